-- numbers.lua: whole numbers in doubles, exact below 2^53, and exact products of two of them.
-- needs: records

local numbers
numbers = {
    -- A number of 0 or more as text. Lua itself would write only 14 digits.
    digits = function(n)
        return digits(n)
    end,

    -- a * b as the exact sum of two doubles (Dekker's product: it splits each factor into halves whose products fit).
    product = function(a, b)
        local p, t = a * b, 134217729 * a
        local a_high = t - (t - a)
        local a_low = a - a_high
        t = 134217729 * b
        local b_high = t - (t - b)
        local b_low = b - b_high
        return p, a_low * b_low - (((p - a_high * b_high) - a_low * b_high) - a_high * b_low)
    end,

    -- (a * b + c) / d rounded down, and the remainder. Requires a, b >= 0, d > 0, -d < c < 2^53, and a sum of at least
    -- 0. A quotient above 2^52 is approximate and has no remainder: all callers have lower bounds.
    divide = function(a, b, c, d)
        local sum = a * b + c
        local quotient = sum / d
        quotient = quotient - quotient % 1
        if sum < TAKT_EXACT_MAX then
            return quotient, sum - quotient * d
        elseif quotient > 4503599627370496 then
            return quotient, 0
        end
        local high, low = numbers.product(a, b)
        local high_of, low_of = numbers.product(quotient, d)
        local rest = (high - high_of) + (low - low_of) + c
        while rest < 0 do
            quotient, rest = quotient - 1, rest + d
        end
        while rest >= d do
            quotient, rest = quotient + 1, rest - d
        end
        return quotient, rest
    end,

    -- a * b / c rounded up.
    divide_up = function(a, b, c)
        local quotient, rest = numbers.divide(a, b, 0, c)
        return rest > 0 and quotient + 1 or quotient
    end,
}
