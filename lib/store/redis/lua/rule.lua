-- rule.lua: the table of algorithms by letter; core/rule.c.  An algorithm's functions are made when a rule needs them.
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

    -- A rule from its text ("g1/10000*10"), its state yet to come; nil where it cannot be read.
    new = function(text)
        local algorithm = rule.algorithm(text:sub(1, 1))
        local new = { text = text, algorithm = algorithm }
        return algorithm and algorithm.read_rule(new, text:sub(2)) and new or nil
    end,
}
