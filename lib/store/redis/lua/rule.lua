-- rule.lua: the table of algorithms by letter (rules/rule.c). A rule that needs an algorithm defines its functions.
-- needs: numbers gcra fixed_window sliding_window sliding_log

local rule
rule = {
    makers = { g = make_gcra, f = make_fixed_window, s = make_sliding_window, l = make_sliding_log },
    made = {},

    algorithm = function(letter)
        local made, make = rule.made, rule.makers[letter]
        if not made[letter] and make then
            made[letter] = make()
        end
        return made[letter]
    end,

    -- Reads the state of a rule and the debt after it ("!50"). False: the text is malformed.
    read_state = function(one, text)
        local state, owed = text:match('^(.-)!(%d+)$')
        one.owed = tonumber(owed) or 0
        return (not owed or (one.owed >= 1 and one.owed <= TAKT_ROOM_MAX))
            and one.algorithm.read_state(one, state or text)
    end,

    write_state = function(one)
        return one.algorithm.write_state(one) .. (one.owed > 0 and '!' .. numbers.digits(one.owed) or '')
    end,

    -- Reads a rule without its state ("g1/10000*10"; "g=1/10000*10" counts requests, "g&2:1/10000*10" the second unit
    -- that the limit names). `unit` is nil for tokens, 0 for requests, 1 to TAKT_MORE_MAX for a further unit. Nil: the
    -- text is malformed.
    new = function(text)
        local algorithm, mark, unit, at = rule.algorithm(text:sub(1, 1)), text:sub(2, 2), nil, 2
        if mark == '=' then
            unit, at = 0, 3
        elseif mark == '&' then
            local n = text:match('^&(%d):', 2)
            unit, at = tonumber(n or 0) - 1, 5
            algorithm = unit >= 1 and unit <= TAKT_MORE_MAX and algorithm
        end
        local new = { text = text, algorithm = algorithm, owed = 0, unit = unit }
        return algorithm and algorithm.read_rule(new, text:sub(at)) and new or nil
    end,
}
