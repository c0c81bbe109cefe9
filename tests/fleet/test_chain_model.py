#!/usr/bin/env python3
"""
The promises of one decision for all levels, checked on chain_model.py; and that faults in the model break them.
A mutant is the model with one piece of text replaced; at least one check must fail with it.

Usage: test_chain_model.py [CHECK...]
"""

import pathlib
import sys
import types

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import tap  # noqa: E402

SOURCE = (HERE / 'chain_model.py').read_text()
MAIL = 5  # a priority


class Broken(Exception):
    pass


def require(good, *found):
    if not good:
        raise Broken(' '.join(map(str, found)))


def subject(key=None, tenant=None, priority=MAIL, region=None):
    keys = () if key is None else (key,) if region is None else (key, region)
    return (priority, tenant, keys)


def chain(m, outer, accounts=0, inner=5, weights=None):
    rules = {key: m.Rule(m.SECOND // inner) for key in range(accounts)}
    return m.Chain(m.Outer(m.SECOND // outer), rules, weights)


def keeps_rules(m, fleet, outer_interval=None):
    """Every rule of every level holds for the slots; no work starts before its slot."""
    outer = fleet.chain.outer
    broken = m.broken_by(fleet.slots(), outer_interval or outer.interval, outer.burst)
    require(broken is None, 'the outer rule is broken at', broken)
    for key, rule in fleet.chain.inner.items():
        broken = m.broken_by(fleet.slots(lambda s: key in s[2]), rule.interval, rule.burst)
        require(broken is None, 'the rule of', key, 'is broken at', broken)
    require(all(start >= slot for slot, _, _, start in fleet.starts), 'work starts before its slot')


def takes_nothing_else(m, fleet):
    """The inner rules are as the starts and the slots in hand alone put them."""
    for key, rule in fleet.chain.inner.items():
        again = m.Rule(rule.interval, rule.burst)
        given = fleet.slots(lambda s: key in s[2])
        given += [event[5] for event in fleet.events if event[2] == 'start' and key in event[4][2]]
        given += [slot for event in fleet.events if event[2] == 'answer' for slot, s in event[4] if key in s[2]]
        for slot in sorted(given):
            again.take(slot)
        require(again.tat == rule.tat, 'key', key, 'has lost', (rule.tat - again.tat) / rule.interval, 'tokens')


def spread(fleet):
    counts = fleet.counts().values()
    return min(counts), max(counts)


def inner_bound(m):
    fleet = m.Fleet(chain(m, 100, 10), {w: {subject(k): (w, 50, True) for k in range(10)} for w in range(4)}, 10).run()
    keeps_rules(m, fleet)
    takes_nothing_else(m, fleet)
    require(49.9 <= fleet.rate() <= 50.2, 'ten accounts of 5/s have', fleet.rate())
    require(spread(fleet)[1] - spread(fleet)[0] <= 1, 'accounts have', spread(fleet))


def outer_bound(m):
    """A hundred accounts of 5/s inside 100/s, on eight workers; calls as for a limit without levels."""
    plain = m.Fleet(chain(m, 100), {w: {subject(): (w, 50, True)} for w in range(8)}, 10).run()
    fleet = m.Fleet(chain(m, 100, 100), {w: {subject(k): (w, 20, True) for k in range(100)} for w in range(8)}, 10,
                    trip=(500, 20000)).run()
    keeps_rules(m, fleet)
    takes_nothing_else(m, fleet)
    require(fleet.rate() >= 99.9, 'the rate is', fleet.rate())
    require(spread(fleet)[1] - spread(fleet)[0] <= 2, 'accounts have', spread(fleet))
    require(fleet.calls_a_start() <= 1.2 * plain.calls_a_start(), fleet.calls_a_start(), 'calls a start, without levels',
            plain.calls_a_start())


def uneven(m):
    """One account has 100,000 waiters on a worker of its own; the others are spread unevenly."""
    load = {w: {subject(k): (w, 5, True) for k in range(1, 100) if k * k % 29 % 8 == w} for w in range(1, 8)}
    rest = [k for k in range(1, 100) if k * k % 29 % 8 == 0]
    load[0] = {subject(0): (0, 100000, False), **{subject(k): (0, 5, True) for k in rest}}
    fleet = m.Fleet(chain(m, 100, 100), load, 10).run()
    keeps_rules(m, fleet)
    require(fleet.rate() >= 99.9, 'the rate is', fleet.rate())
    require(spread(fleet)[1] - spread(fleet)[0] <= 2, 'accounts have', spread(fleet))


def many_keys(m):
    """One worker has 10,000 keys; each of its claims is bounded, and each key has its turn."""
    keys = 10000
    fleet = m.Fleet(chain(m, 1000, keys, 1), {0: {subject(k): (0, 3, True) for k in range(keys)}}, 4).run()
    keeps_rules(m, fleet)
    require(fleet.largest <= m.LISTED, 'a claim lists', fleet.largest, 'subjects')
    require(len(fleet.chain.line) <= m.STATED, 'the line has', len(fleet.chain.line), 'subjects')
    require(fleet.rate() >= 990, 'the rate is', fleet.rate())
    require(max(fleet.counts(since=0).values()) <= 2, 'a key had', max(fleet.counts(since=0).values()), 'turns')


def mail(m):
    """A domain of 5/s gets its 5 while 240 mails of others wait, and the whole is used."""
    rules = {'slow': m.Rule(m.SECOND // 5), 'fast': m.Rule(m.SECOND // 50)}
    load = {0: {subject('slow'): (0, 60, False)}, 1: {subject('fast'): (0, 240, True)}}
    fleet = m.Fleet(m.Chain(m.Outer(m.SECOND // 50), rules), load, 8).run()
    keeps_rules(m, fleet)
    slow = fleet.counts(by=lambda s: s[2][0])['slow']
    require(slow >= 34, 'in seven seconds the domain has', slow)
    require(fleet.rate() >= 49.9, 'the rate is', fleet.rate())


def block(m):
    """The outer limit is blocked for 8 s: nothing starts, and afterwards every level has its pace."""
    fleet = m.Fleet(chain(m, 50, 10), {w: {subject(k): (0, 20, True) for k in range(10)} for w in range(4)}, 20)
    fleet.block(5 * m.SECOND, 8 * m.SECOND)
    fleet.run()
    keeps_rules(m, fleet)
    during = fleet.slots(since=5 * m.SECOND + 10000, till=13 * m.SECOND)
    require(not during, len(during), 'start during the block')
    after = len(fleet.slots(since=13 * m.SECOND, till=20 * m.SECOND))
    require(after >= 0.99 * 7 * 50, after, 'start in seven seconds after it')


def inner_block(m):
    """A blocked inner key holds up nobody else."""
    fleet = m.Fleet(chain(m, 20, 5), {w: {subject(k): (0, 20, True) for k in range(5)} for w in range(2)}, 12)
    fleet.block(3 * m.SECOND, 6 * m.SECOND, key=0)
    fleet.run()
    keeps_rules(m, fleet)
    during = fleet.counts(since=3 * m.SECOND + 300000, till=9 * m.SECOND)
    require(during[subject(0)] == 0, during[subject(0)], 'of the blocked key start')
    require(sum(during.values()) >= 0.98 * 5.7 * 20, 'the others have', sum(during.values()))


def giving_up(m):
    """A hundred jobs that wait 5 s at most, an inner limit of 800/day, an outer one of 1/s."""
    rules = {'day': m.Rule(86400 * m.SECOND // 800, 800)}
    load = {0: {subject('day'): (0, 100, False)}}
    fleet = m.Fleet(m.Chain(m.Outer(m.SECOND), rules), load, 20, max_wait=5 * m.SECOND).run()
    keeps_rules(m, fleet)
    takes_nothing_else(m, fleet)
    require(5 <= len(fleet.starts) <= 6, len(fleet.starts), 'start')
    require(fleet.given_up + len(fleet.starts) == 100, fleet.given_up, 'give up')


def three_levels(m):
    """Accounts inside regions inside a vendor's quota."""
    rules = {**{k: m.Rule(m.SECOND // 5) for k in range(20)},
             **{('region', r): m.Rule(m.SECOND // 12, 3) for r in range(4)}}
    load = {w: {subject(k, region=('region', k % 4)): (0, 10, True) for k in range(20)} for w in range(3)}
    fleet = m.Fleet(m.Chain(m.Outer(m.SECOND // 40), rules), load, 10).run()
    keeps_rules(m, fleet)
    takes_nothing_else(m, fleet)
    require(fleet.rate() >= 39.9, 'the rate is', fleet.rate())
    require(spread(fleet)[1] - spread(fleet)[0] <= 2, 'accounts have', spread(fleet))


def priorities(m):
    """Urgent work goes first, whatever turns the others have."""
    load = {w: {subject(k): (0, 20, True) for k in range(10)} for w in range(4)}
    load[4] = {subject('now', priority=1): (3 * m.SECOND, 150, False)}
    fleet = chain(m, 50, 10)
    fleet.inner['now'] = m.Rule(m.SECOND // 100)
    fleet = m.Fleet(fleet, load, 10).run()
    keeps_rules(m, fleet)
    others = [slot for slot in fleet.slots(lambda s: s[0] == MAIL) if 3.3 * m.SECOND < slot < 5.9 * m.SECOND]
    require(not others, len(others), 'others start while urgent work waits')


def crash(m):
    """Seven of eight workers die; the last one has all slots within two lookaheads."""
    fleet = m.Fleet(chain(m, 100, 30), {w: {subject(k): (0, 20, True) for k in range(30)} for w in range(8)}, 15)
    for worker in range(7):
        fleet.kill(7 * m.SECOND, worker)
    fleet.run()
    keeps_rules(m, fleet)
    lost = 8 * 100 - len(fleet.slots(since=7 * m.SECOND))
    require(lost <= 2 * 25 + 10, lost, 'slots are lost')
    require(fleet.calls_a_start() <= 0.5, fleet.calls_a_start(), 'calls a start')


def slower(m):
    """A new policy halves the outer rate in mid-run."""
    led = chain(m, 100, 30)

    def change():
        led.outer.interval *= 2
        led.outer.gaps = []
    fleet = m.Fleet(led, {w: {subject(k): (0, 20, True) for k in range(30)} for w in range(4)}, 12)
    fleet.change(6 * m.SECOND, change)
    fleet.run()
    keeps_rules(m, fleet, m.SECOND // 100)
    since = 6 * m.SECOND + m.LOOKAHEAD + 20000
    broken = m.broken_by(fleet.slots(since=since), m.SECOND // 50)
    require(broken is None, 'the new rule is broken at', broken)
    require(len(fleet.slots(since=since)) >= 0.99 * 50 * (12 - since / m.SECOND), len(fleet.slots(since=since)))


def tenants(m):
    """A has 50,000 jobs on eight workers, B ten on one: B is done within 20 slots after those in hand."""
    load = {w: {subject(tenant='A'): (0, 6250, False)} for w in range(8)}
    load[8] = {subject(tenant='B'): (3 * m.SECOND, 10, False)}
    fleet = m.Fleet(chain(m, 100), load, 10).run()
    keeps_rules(m, fleet)
    last = max(fleet.slots(lambda s: s[1] == 'B'))
    came = 3 * m.SECOND + 5000
    between = len(fleet.slots(since=came + m.LOOKAHEAD, till=last + 1))
    require(len(fleet.slots(lambda s: s[1] == 'B')) == 10 and between <= 20, between, 'slots')
    require(fleet.rate() >= 99.9, 'the rate is', fleet.rate())


def equal_tenants(m):
    """Of any two seconds equal tenants have equal parts, on however many workers."""
    load = {w: {subject(tenant='A'): (0, 100, True)} for w in range(6)}
    load.update({6: {subject(tenant='B'): (0, 100, True)}, 7: {subject(tenant='C'): (0, 100, True),
                                                               subject(tenant='D'): (0, 100, True)}})
    fleet = m.Fleet(chain(m, 100), load, 12).run()
    keeps_rules(m, fleet)
    index = min(m.jain(fleet.counts(t, t + 2 * m.SECOND).values()) for t in range(m.SECOND, 9 * m.SECOND, 50000))
    require(index >= 0.99, "Jain's index is", index)


def weights(m):
    fleet = m.Fleet(chain(m, 100, weights={'A': 3}),
                    {w: {subject(tenant=t): (0, 50, True) for t in 'AB'} for w in range(8)}, 15).run()
    keeps_rules(m, fleet)
    counts = fleet.counts()
    ratio = counts[subject(tenant='A')] / counts[subject(tenant='B')]
    require(abs(ratio / 3 - 1) <= 0.02, 'the shares are as', ratio)


def lent(m):
    """A tenant alone has everything; one that comes back has its share at once, and no more."""
    load = {0: {subject(tenant='A'): (0, 5000, False)}, 1: {subject(tenant='B'): (4 * m.SECOND, 5000, False)}}
    fleet = m.Fleet(chain(m, 100), load, 10).run()
    keeps_rules(m, fleet)
    alone = fleet.counts(m.SECOND, 4 * m.SECOND)[subject(tenant='A')]
    both = fleet.counts(4 * m.SECOND + 2 * m.LOOKAHEAD, 8 * m.SECOND + 2 * m.LOOKAHEAD)
    require(alone >= 299, 'alone it has', alone)
    require(abs(both[subject(tenant='A')] - both[subject(tenant='B')]) <= 8, both)


def held_up(m):
    """An account whose inner rule was slow has its share at once when it is not, and no more: it does not catch up."""
    fleet = chain(m, 50, 2, 50)
    fleet.inner[0].interval = m.SECOND // 5
    fleet = m.Fleet(fleet, {w: {subject(k): (0, 20, True) for k in range(2)} for w in range(2)}, 10)
    fleet.change(5 * m.SECOND, lambda: setattr(fleet.chain.inner[0], 'interval', m.SECOND // 50))
    fleet.run()
    both = fleet.counts(5 * m.SECOND + 2 * m.LOOKAHEAD, 9 * m.SECOND)
    require(abs(both[subject(0)] - both[subject(1)]) <= 4, both)


def workers(m):
    """The workers of one subject take turns."""
    fleet = m.Fleet(chain(m, 100, 3, 50), {w: {subject(k): (w, 50, True) for k in range(3)} for w in range(5)}, 10).run()
    by = [len([1 for slot, _, w, _ in fleet.starts if w == worker and slot >= m.SECOND]) for worker in range(5)]
    require(max(by) - min(by) <= 10, 'the workers have', by)


def tenants_with_keys(m):
    """Tenants take turns, whatever number of accounts each has."""
    rules = {key: m.Rule(m.SECOND // 20) for key in range(22)}
    load = {w: {subject(k, tenant='A' if k < 20 else 'B'): (0, 20, True) for k in range(22)} for w in range(3)}
    fleet = m.Fleet(m.Chain(m.Outer(m.SECOND // 50), rules), load, 10).run()
    keeps_rules(m, fleet)
    by = fleet.counts(by=lambda s: s[1])
    require(abs(by['A'] - by['B']) <= 0.03 * by['B'], by)
    require(fleet.rate() >= 49.9, 'the rate is', fleet.rate())


CHECKS = [inner_bound, outer_bound, uneven, many_keys, mail, block, inner_block, giving_up, three_levels, priorities,
          crash, slower, tenants, equal_tenants, weights, lent, held_up,
          workers, tenants_with_keys]

# What somebody could get wrong: what it is, what the model says, what it says instead, the checks that may notice.
MUTANTS = [
    ('the outer rule is not asked', 'at = outer.fit(t)', 'at = t', [mail]),
    ('the inner rules are not asked', 't = inner[key].earliest(t)', 't = max(t, 0)', [inner_bound]),
    ('an inner rule is not taken from', "for key in subject[2]:\n            self.inner[key].take(at)",
     "for key in ():\n            self.inner[key].take(at)", [inner_bound]),
    ('only the innermost rule is taken from', "for key in subject[2]:\n            self.inner[key].take(at)",
     "for key in subject[2][:1]:\n            self.inner[key].take(at)", [three_levels]),
    ('the outer state jumps, and what lies between is lost', 'while free + self.interval <= t:',
     'while free + self.interval <= 0 * t:', [mail, outer_bound, uneven]),
    ('a gap is used twice', 'self.gaps.pop(at)\n', 'pass\n', [uneven, mail, inner_bound]),
    ('a slot is left to workers that come after it', 'able = [w for w in left if w == claimer or places[w].again <= at]',
     'able = list(left)', [outer_bound, inner_bound, crash, uneven]),
    ('silent workers are waited for', 'if w == worker or now <= p.again + LOOKAHEAD]', 'if True]', [crash]),
    ('a block of the outer limit is not asked', 'return max(t, self.blocked, self.tat',
     'return max(t, self.tat', [block, inner_block]),
    ('workers, not subjects, take turns', 'tags[node] += self.step(node)', 'tags[node] += 0 * self.step(node)',
     [uneven, equal_tenants]),
    ('served subjects keep their tag', 'self.tags[node] = tag + self.step(node)', 'self.tags[node] = tag',
     [uneven, equal_tenants]),
    ('weights do nothing', 'return ONE_TURN // weight', 'return ONE_TURN', [weights]),
    ('a subject that is held up saves its turns', '                self.forfeit(self.node(subject))\n', '                pass\n',
     [held_up]),
    ('who comes back begins at the beginning', 'self.tags[node] = self.virtual.get(node[0], 0)',
     'self.tags[node] = 0', [lent]),
    ('priorities are not asked', 'heapq.heappush(nodes, (subject[0], tags[node], node))',
     'heapq.heappush(nodes, (0, tags[node], node))', [priorities]),
    ('a worker keeps its turn', "places[worker].turn = self.turn\n", 'pass\n', [workers]),
    ('what is not due keeps its place', 'if due > now + 2 * LOOKAHEAD:', 'if due > now + 1000000 * LOOKAHEAD:', [many_keys]),
]


def load(source):
    model = types.ModuleType('model')
    exec(compile(source, 'chain_model.py', 'exec'), model.__dict__)  # noqa: S102
    return model


def failure_of(check, model):
    try:
        check(model)
    except Broken as broken:
        return str(broken)
    except Exception as error:  # a mutant may do anything
        return repr(error)
    return None


def main():
    names = sys.argv[1:]
    report, model = tap.Report(), load(SOURCE)
    for check in CHECKS:
        if not names or check.__name__ in names:
            failure = failure_of(check, model)
            report.check(failure is None, check.__name__.replace('_', ' '), failure)
    for name, text, instead, checks in MUTANTS if not names else []:
        if report.check(SOURCE.count(text) == 1, f'the source of the mutant is there: {name}', SOURCE.count(text)):
            mutant = load(SOURCE.replace(text, instead))
            report.check(any(failure_of(check, mutant) for check in checks), f'noticed: {name}')
    report.end()


if __name__ == '__main__':
    main()
