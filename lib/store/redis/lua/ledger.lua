-- ledger.lua: the ledger's text in and out, and what time alone changes; core/ledger.c and core/ledger_text.c.
-- needs: limit convert

local RULES_MAX = 8

local turn, blocked = 0, 0
local stored -- the text as it was found; false: none
local listed = false -- somebody stands in line
local damaged = false

-- The rules that a text begins with, as two lists of texts, and where it goes on; nil where it cannot be read.
local function split_rules(text)
    local heads, states, at = {}, {}, 1
    repeat
        if #heads > 0 and at <= #text and not algorithm_lettered(text:sub(at, at)) then
            return heads, states, at
        end
        local head, state, stop = text:match('^([^ ;]+) ([^;]+)()', at)
        if not head or #heads == RULES_MAX then
            return nil
        end
        heads[#heads + 1], states[#states + 1] = head, state
        at = stop + 1
    until stop > #text
    return heads, states, at
end

-- What follows the rules.  Returns the revision, lookahead and max_waiting that it tells, the revision 0 where none;
-- nil where it cannot be read.
local function read_rest(text, at)
    local told, ahead, most = 0, nil, nil
    local a, b, c, stop = text:match('^r(%d+),(%d+),(%d+);?()', at)
    if a then
        told, ahead, most, at = tonumber(a), tonumber(b), tonumber(c), stop
        if told < 1 or told > EXACT or ahead > LOOKAHEAD_MAX or most > EXACT then
            return nil
        end
    end
    a, stop = text:match('^t(%d+);?()', at)
    if a then
        turn, listed, at = tonumber(a), true, stop
    end
    a, stop = text:match('^b(%d+);?()', at)
    if a then
        blocked, at = tonumber(a), stop
    end
    if at <= #text or turn > EXACT or blocked > EXACT or (a and blocked < 1) then
        return nil
    end
    return told, ahead, most
end

-- Reads the text into the state of `wanted`, the caller's rules, or where they are older, into rules of its own.
local function decode(text, wanted)
    local heads, states, at = split_rules(text)
    if not heads then
        return false
    end
    local told, ahead, most = read_rest(text, at)
    if not told then
        return false
    end
    local same = table.concat(heads, ';') == ARGV[1]
    local kept = wanted
    if not same then
        kept = {}
        for i = 1, #heads do
            kept[i] = new_rule(heads[i])
            if not kept[i] then
                return false
            end
        end
    end
    for i = 1, #kept do
        if not kept[i].algorithm.read_state(kept[i], states[i]) then
            return false
        end
    end
    if told > revision then
        rules, revision, lookahead, max_waiting = kept, told, ahead, most
    elseif not same then
        convert(kept, wanted)
    end
    return true
end

-- What the caller's policy says.  False: the arguments are not as they should be.
local function read_arguments()
    rules = {}
    for text in (ARGV[1] or ''):gmatch('[^;]+') do
        rules[#rules + 1] = new_rule(text)
    end
    revision, lookahead, max_waiting = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
    return #KEYS == 4 and rules[1] and tonumber(ARGV[2]) and revision and lookahead and max_waiting and ARGV[6]
end

-- A ledger that cannot be read: a fresh one, blocked for the longest period.
local function begin_anew()
    read_arguments()
    if forget_logs then
        forget_logs()
    end
    rest()
    turn, listed, damaged = 0, false, true
    blocked = now + ARGV[2]
end

-- The ledger as it was kept.
local function open_ledger()
    if not stored then
        rest()
    elseif not decode(stored, rules) and not zone_wanted then
        begin_anew()
    end
end

local function tidy_rules()
    pull_back()
    if blocked > 0 and blocked <= now + lookahead then
        exhaust(blocked)
        if blocked <= now then
            blocked = 0
        end
    end
end

local function encode()
    local text = rules[1].text .. ' ' .. rules[1].algorithm.write_state(rules[1])
    for i = 2, #rules do
        text = text .. ';' .. rules[i].text .. ' ' .. rules[i].algorithm.write_state(rules[i])
    end
    if revision > 0 then
        text = text .. format(';r%.0f,%.0f,%.0f', revision, lookahead, max_waiting)
    end
    if listed then
        text = text .. ';t' .. digits(turn)
    end
    if blocked > 0 then
        text = text .. ';b' .. digits(blocked)
    end
    return text
end
