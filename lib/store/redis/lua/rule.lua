-- rule.lua: the table of algorithms by letter; core/rule.c.  An algorithm's functions are made when a rule needs them.
-- needs: numbers gcra fixed_window sliding_window sliding_log

local makers = { g = gcra, f = fixed_window, s = sliding_window, l = sliding_log }
local made = {}

local function algorithm_lettered(letter)
    if not made[letter] and makers[letter] then
        made[letter] = makers[letter]()
    end
    return made[letter]
end

-- A rule from its text ("g1/10000*10"), its state yet to come; nil where it cannot be read.
local function new_rule(text)
    local algorithm = algorithm_lettered(text:sub(1, 1))
    local rule = { text = text, algorithm = algorithm }
    if algorithm and algorithm.read_rule(rule, text:sub(2)) then
        return rule
    end
    return nil
end
