-- records.lua: the records of waiters and of holders in KEYS[3] and KEYS[4]. Numbers are passed as text. All functions
-- of this piece are inline, so a script defines none of them.
--
--   KEYS[3], for each worker: "SEQ;PRIORITY,TURN,WANTING,NEED,WAITING,AGAIN[*WEIGHT[+LEFT]][-FORMER][,[a][f][p[o][u]]]
--            [/WANTING,NEED...];..." (a: the place is set aside, f: it is the worker's most urgent place, p: it lacks a
--            permit, o: the worker was asked to claim at the end of a lease, u: a wake-up reached no client; after
--            slashes: further units)
--            all: "WAITING,WORKERS,LATEST,LEAST,KEPT[,LATE];PRIORITY,PLACES,ACTIVE,WANTING[,LACKING][/ASKING]
--            [*WEIGHT+SHARES][-OWED][/WANTING...];..." (if not all weights are 1; if a place owes turns, the highest
--            number of one; if rules count further units)
--   KEYS[4], for each worker: "SEQ,HELD,EXPIRES"
--            all: "HELD,HOLDERS,LEAST,KEPT"

-- Keys live longer than their content, so that few claims must extend them, and longer than the text that tells of
-- them: the server's clock goes on while a script runs. PEXPIREAT then deletes a key at once, but a text that ended
-- meanwhile stays visible to the rest of the script.
local SLACK = 10000000
local TURNS = 562949953421312 -- the turns of a priority: a place's score is its priority * TURNS + its turn

local PLACE = ';(%d),(%d+),(%d+),(%d+),(%d+),(%d+)'
local MARKS = ',?(a?)(f?)(p?o?u?)'
local WEIGHTS = '%*?(%d*)%+?(%d*)'
local PLACE_SHARES = ',%d+,%d+,%d+,(%d+),%d+%*?(%d*)%+?(%d*)' -- of them the number of waiters and the weights
local FORMER = '%-?(%d*)'
local TOTALS = '(%d+),(%d+),(%d+),(%d+),(%d+),?(%d*)'
local TOTALS_OF = ';(%d),(%d+),(%d+),(%d+),?(%d*)/?(%d*)'

-- A whole number from 0 on. A large one is written in halves: "%d" is twice as fast as "%.0f", but may have 32 bits
-- only.
-- inline
local function digits(n)
    return n < 1e9 and string.format('%d', n) or string.format('%d%08d', (n - n % 1e8) / 1e8, n % 1e8)
end

-- The seq and the fields of the only place. Nil: there are more places, or none, or its weight is not 1.
-- inline
local function read_only_place(record)
    return record:match('^(%d+)' .. PLACE .. MARKS .. '$')
end

-- The fields of the place at a position, and the position after it. A weight of 1, a turn that has not begun
-- and no former turn are empty.
-- inline
local function read_place(record, at)
    return record:match('^' .. PLACE .. WEIGHTS .. FORMER .. MARKS .. '()', at)
end

-- `marks`: empty, or with a comma before them; in front of it the weight and the former turn if there are such.
-- inline
local function write_place(priority, turn, wanting, need, waiting, again, marks)
    return ';' .. priority .. ',' .. turn .. ',' .. wanting .. ',' .. need .. ',' .. waiting .. ',' .. again .. marks
end

-- What a place wants and needs of a further unit, and the position after it. Nil: no such amounts are there.
-- inline
local function read_further(record, at)
    return record:match('^/(%d+),(%d+)()', at)
end

-- inline
local function write_further(wanting, need)
    return '/' .. wanting .. ',' .. need
end

-- The totals of the line, and the totals of its only priority. Nil: there are more priorities, or other weights than 1,
-- or a place that owes turns.
-- inline
local function read_only_totals(record)
    return record:match('^' .. TOTALS .. TOTALS_OF .. '$')
end

-- The totals of the line, and the position of the totals by priority.
-- inline
local function read_totals(record)
    return record:match('^' .. TOTALS .. '()')
end

-- inline
local function read_totals_of(record, at)
    return record:match('^' .. TOTALS_OF .. WEIGHTS .. FORMER .. '()', at)
end

-- What a priority wants of further units (empty: not told), and the position after it.
-- inline
local function read_further_totals(record, at)
    return record:match('^/(%d+)/?(%d*)/?(%d*)()', at)
end

-- `late`: empty instead of 0.
-- inline
local function write_totals(waiting, workers, latest, least, kept, late)
    return waiting .. ',' .. workers .. ',' .. latest .. ',' .. least .. ',' .. kept .. late
end

-- `lacking`: empty instead of 0. `asking`: with a slash before it; empty if rules count tokens alone; then the weights
-- if not all are 1, the highest number of a place that owes turns, and what is wanted of further units.
-- inline
local function write_totals_of(priority, places, active, wanting, lacking, asking)
    return ';' .. priority .. ',' .. places .. ',' .. active .. ',' .. wanting .. lacking .. asking
end

-- inline
local function read_holder(record)
    return record:match('^(%d+),(%d+),(%d+)$')
end

-- inline
local function write_holder(seq, held, expires)
    return seq .. ',' .. held .. ',' .. expires
end

-- inline
local function read_holders(record)
    return record:match('^(%d+),(%d+),(%d+),(%d+)$')
end

-- inline
local function write_holders(total, count, least, kept)
    return total .. ',' .. count .. ',' .. least .. ',' .. kept
end
