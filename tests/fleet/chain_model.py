"""
An executable model of one decision for all levels of `within`, on virtual time in whole microseconds. docs/design.md
("Nested limits") says what it decides; test_chain_model.py checks the promises with it.

Work stands in line at the outermost ledger. A subject is the work of one chain of inner keys, or of one tenant. The
ledger knows the inner rules of each subject, its virtual tag (start-time fair queueing), and which workers want it.
"""

import bisect
import heapq
import random

SECOND = 1_000_000
LOOKAHEAD = 250_000
KEEPALIVE = 2 * SECOND
LISTED = 32  # subjects that one claim lists: only they can be given slots, since their keys are declared
STATED = 256  # subjects of one worker that the line remembers
STEPS = 512  # of one walk along the line
ONE_TURN = 1 << 20  # what a slot adds to the tag of a subject of weight 1
NEVER = 1 << 62


class Rule:
    """GCRA: one token in each interval, and `burst` of them at once."""

    def __init__(self, interval, burst=1):
        self.interval, self.burst, self.tat, self.blocked = interval, burst, 0, 0

    def earliest(self, t):
        return max(t, self.blocked, self.tat - (self.burst - 1) * self.interval)

    def take(self, t):
        self.tat = max(self.tat, t) + self.interval

    def copy(self):
        rule = Rule(self.interval, self.burst)
        rule.tat, rule.blocked = self.tat, self.blocked
        return rule


class Outer(Rule):
    """
    The rule of the outermost limit. A slot may be later than the next free one, because an inner rule is due later.
    What a full bucket would lose in between stays free: it is taken from the rule and kept as `gaps` until it is past.
    """

    def __init__(self, interval, burst=1):
        super().__init__(interval, burst)
        self.gaps = []

    def fit(self, t):
        """The first instant from t on that is free."""
        at = bisect.bisect_left(self.gaps, max(t, self.blocked))
        return self.gaps[at] if at < len(self.gaps) else self.earliest(t)

    def take_at(self, t, now):
        at = bisect.bisect_left(self.gaps, t)
        if at < len(self.gaps) and self.gaps[at] == t:
            self.gaps.pop(at)
            return
        free = max(self.tat, now, self.blocked)
        while free + self.interval <= t:
            bisect.insort(self.gaps, free)
            self.take(free)
            free += self.interval
        self.take(t)

    def forget(self, now):
        self.gaps = [gap for gap in self.gaps if gap >= max(now, self.blocked)]

    def copy(self):
        rule = Outer(self.interval, self.burst)
        rule.tat, rule.blocked, rule.gaps = self.tat, self.blocked, list(self.gaps)
        return rule


class Place:
    """A worker that wants slots for a subject."""

    def __init__(self, turn):
        self.turn, self.count, self.again = turn, 0, 0


class Chain:
    """
    The outermost ledger and the inner rules that its line knows. A subject is (priority, tenant, inner keys); tenant
    None: subjects take turns by their keys. `inner` maps each inner key to its rule.
    """

    def __init__(self, outer, inner, weights=None):
        self.outer, self.inner, self.weights = outer, inner, weights or {}
        self.line = {}  # subject -> {worker: Place}
        self.tags, self.virtual, self.turn, self.heard = {}, {}, 0, {}

    # ---- subjects

    @staticmethod
    def node(subject):
        """Who takes turns: the tenant, or without tenants the subject itself."""
        return (subject[0], subject[1]) if subject[1] is not None else subject

    def step(self, node):
        weight = self.weights.get(node[1], 1) if len(node) == 2 else 1
        return ONE_TURN // weight

    def forfeit(self, node):
        """A node saves at most one turn while it wants nothing or its inner rules hold it up."""
        least = self.virtual.get(node[0], 0) - self.step(node)
        self.tags[node] = max(self.tags.get(node, least), least)

    def due(self, subject, t, inner):
        for key in subject[2]:  # one round: what conforms at an instant conforms later
            t = inner[key].earliest(t)
        return t

    def live(self, subject, worker, now):
        """The workers of a subject. One that does not come when it was told is stepped over."""
        return [w for w, p in self.line[subject].items() if w == worker or now <= p.again + LOOKAHEAD]

    def share(self):
        workers = {w for places in self.line.values() for w in places}
        return max(1, LOOKAHEAD // self.outer.interval // max(1, len(workers)))

    # ---- the walk along the line

    def walk(self, worker, now, until):
        """
        Who gets the free slots up to `until`, if all come in time: yields (instant, subject, worker). At each instant,
        of the subjects whose inner rules are due: the most urgent priority, the node with the lowest tag, in it the
        subject that was served longest ago, in it the worker whose turn it is, for a share.
        """
        outer, share = self.outer.copy(), self.share()
        inner, tags, subtags = {}, {}, {}
        left, taken = {}, {}
        waiting, ready = [], {}
        for subject in self.line:
            workers = self.live(subject, worker, now)
            if not workers:
                continue
            left[subject] = {w: self.line[subject][w].count for w in workers}
            for key in subject[2]:
                if key not in inner:
                    inner[key] = self.inner[key].copy()
            heapq.heappush(waiting, (self.due(subject, now, inner), subject))
        nodes = []
        t = max(now, outer.blocked)
        for _ in range(STEPS):
            at = outer.fit(t)
            if at > until:
                return
            while waiting and waiting[0][0] <= at:
                subject = heapq.heappop(waiting)[1]
                node = self.node(subject)
                tags.setdefault(node, self.tags[node])
                if not ready.get(node):
                    ready[node] = []
                    heapq.heappush(nodes, (subject[0], tags[node], node))
                heapq.heappush(ready[node], (subtags.get(subject, self.tags.get(('in', subject), 0)), subject))
            chosen, taker = None, None
            while nodes and taker is None:
                node = heapq.heappop(nodes)[2]
                while ready[node] and taker is None:
                    chosen = heapq.heappop(ready[node])[1]
                    due = self.due(chosen, now, inner)  # another subject may have taken of a rule that both have
                    if due <= at:
                        taker, due = self.taker(chosen, left[chosen], worker, at, taken, share)
                    if taker is None:
                        heapq.heappush(waiting, (due, chosen))
            if taker is None:
                if not waiting:
                    return
                t = max(t, waiting[0][0])
                continue
            yield at, chosen, taker
            outer.take_at(at, now)
            for key in chosen[2]:
                inner[key].take(at)
            tags[node] += self.step(node)
            subtags[chosen] = subtags.get(chosen, self.tags[('in', chosen)]) + 1
            left[chosen][taker] -= 1
            taken[taker] = taken.get(taker, 0) + 1
            if left[chosen][taker] <= 0:
                del left[chosen][taker]
            if left[chosen]:
                heapq.heappush(waiting, (self.due(chosen, now, inner), chosen))
            if ready[node]:
                heapq.heappush(nodes, (node[0], tags[node], node))
            t = at

    def taker(self, subject, left, claimer, at, taken, share):
        """
        Of the workers that claim before that instant, the one that has had the fewest shares, and of them the first by
        turn. Otherwise None, and when the first of them claims.
        """
        places = self.line[subject]
        able = [w for w in left if w == claimer or places[w].again <= at]
        if able:
            return min(able, key=lambda w: (taken.get(w, 0) // share, places[w].turn)), at
        return None, min(places[w].again for w in left)

    # ---- a claim

    def state(self, worker, wants, now):
        for subject, count in wants.items():
            places = self.line.setdefault(subject, {})
            if worker not in places:
                self.turn += 1
                places[worker] = Place(self.turn)
                node = self.node(subject)
                if node not in self.tags:
                    self.tags[node] = self.virtual.get(node[0], 0)
                elif not any(self.node(s) == node and len(p) > (s == subject) for s, p in self.line.items()):
                    self.forfeit(node)
                self.tags.setdefault(('in', subject), self.turn)
            places[worker].count = count
            if count == 0:
                del places[worker]
            elif self.due(subject, now, self.inner) > now:
                self.forfeit(self.node(subject))
        for subject in list(self.line):
            for other in [w for w in self.line[subject] if now - self.heard[w] > 3 * KEEPALIVE]:
                del self.line[subject][other]
            if not self.line[subject]:
                del self.line[subject]
        kept = {('in', s) for s in self.line} | {self.node(s) for s in self.line}
        for node in [n for n in self.tags if n not in kept and self.tags[n] <= self.virtual.get(n[0], NEVER)]:
            del self.tags[node]

    def give(self, worker, subject, now, at):
        """Takes a slot from all levels."""
        self.outer.take_at(at, now)
        for key in subject[2]:
            self.inner[key].take(at)
        node = self.node(subject)
        tag = self.tags[node]
        self.virtual[node[0]] = max(self.virtual.get(node[0], 0), tag)
        self.tags[node] = tag + self.step(node)
        self.turn += 1
        self.tags[('in', subject)] = self.turn
        self.line[subject][worker].count -= 1

    def claim(self, worker, wants, now):
        """
        Returns the slots as (instant, subject); when the worker is to claim again, and for which subjects; and which of
        the listed ones are not due for two lookaheads: these leave the line until then, so that others can stand there.
        """
        self.outer.forget(now)
        self.heard[worker] = now
        self.state(worker, wants, now)
        mine = [(at, subject) for at, subject, w in self.walk(worker, now, now + LOOKAHEAD)
                if w == worker and subject in wants]
        for at, subject in mine:
            self.give(worker, subject, now, at)
        served = {subject for _, subject in mine}
        if served:  # its turn is over
            self.turn += 1
            for places in self.line.values():
                if worker in places:
                    places[worker].turn = self.turn
        for subject in served:
            if self.line[subject][worker].count <= 0:
                del self.line[subject][worker]
            if subject in self.line and not self.line[subject]:
                del self.line[subject]
        later = {}
        for subject in wants:
            due = self.due(subject, now, self.inner)
            if due > now + 2 * LOOKAHEAD:
                later[subject] = due - LOOKAHEAD
                if subject in self.line:
                    self.line[subject].pop(worker, None)
                    if not self.line[subject]:
                        del self.line[subject]
        own = [places[worker] for places in self.line.values() if worker in places]
        again, next_ones = self.next_turn(worker, now, own) if own else (NEVER, [])
        for place in own:
            place.again = again
        return mine, again, next_ones, later

    def next_turn(self, worker, now, own):
        """When the slots of its next turn are in the lookahead, half of one early enough for the first of them."""
        turn, slots, subjects = min(sum(p.count for p in own), self.share()), [], []
        for at, subject, w in self.walk(worker, now, now + KEEPALIVE + LOOKAHEAD):
            if w == worker:
                slots.append(at)
                if subject not in subjects:
                    subjects.append(subject)
                if len(slots) >= turn and at > slots[0] + LOOKAHEAD // 2:
                    break
        if not slots:
            return now + KEEPALIVE, subjects
        last = slots[min(turn, len(slots)) - 1]
        again = max(min(last, slots[0] + LOOKAHEAD // 2) - LOOKAHEAD, now + LOOKAHEAD // 16)
        return min(again, now + KEEPALIVE), subjects[:LISTED]


class Fleet:
    """
    Workers that keep waiters of subjects, and claim over a network that takes its time.
    load: {worker: {subject: (first arrival, waiters at once, whether others take their places)}}
    """

    def __init__(self, chain, load, seconds, trip=(500, 5000), seed=1, max_wait=None):
        self.chain, self.load, self.until, self.trip = chain, load, seconds * SECOND, trip
        self.random, self.max_wait = random.Random(seed), max_wait
        self.events, self.number = [], 0
        self.waiting = {w: {} for w in load}
        self.stated = {w: {} for w in load}  # subject -> the count that the ledger knows
        self.parked = {w: {} for w in load}  # subject -> not due before that
        self.listed = {w: {} for w in load}  # subject -> when it was last listed
        self.next_ones = {w: [] for w in load}  # whose turn comes, by the last award
        self.dead, self.busy, self.timer = set(), set(), {}
        self.starts = []  # (slot, subject, worker, start)
        self.calls = self.warm_calls = self.largest = self.given_up = self.dropped = 0
        for worker, subjects in load.items():
            for subject, (first, count, lasting) in subjects.items():
                self.at(first, 'arrive', worker, subject, count)

    def at(self, t, *event):
        self.number += 1
        heapq.heappush(self.events, (t, self.number) + event)
        return self.number

    def block(self, t, span, key=None):
        self.at(t, 'block', key, span)

    def kill(self, t, worker):
        self.at(t, 'kill', worker)

    def change(self, t, what):
        self.at(t, 'change', what)

    def run(self):
        while self.events:
            t, number, what, *rest = heapq.heappop(self.events)
            if t > self.until:
                self.at(t, what, *rest)
                break
            if what in ('claim', 'answer', 'start', 'wake', 'arrive', 'leave') and rest[0] in self.dead:
                continue
            getattr(self, 'on_' + what)(t, number, *rest)
        return self

    def on_kill(self, t, number, worker):
        self.dead.add(worker)

    def on_change(self, t, number, what):
        what()

    def on_block(self, t, number, key, span):
        rule = self.chain.outer if key is None else self.chain.inner[key]
        rule.blocked = max(rule.blocked, t + span)

    def on_arrive(self, t, number, worker, subject, count):
        self.waiting[worker][subject] = self.waiting[worker].get(subject, 0) + count
        if self.max_wait:
            self.at(t + self.max_wait, 'leave', worker, subject)
        self.ask(t, worker)

    def on_leave(self, t, number, worker, subject):
        self.given_up += self.waiting[worker].get(subject, 0)
        self.waiting[worker][subject] = 0
        self.ask(t, worker)

    def on_wake(self, t, number, worker):
        if self.timer.get(worker) == number:
            self.ask(t, worker)

    def ask(self, t, worker):
        """
        Lists a bounded number of subjects: those whose turn comes, by the last award; then what the line does not know;
        then those that were listed longest ago.
        """
        if worker in self.busy:
            return
        said, parked, listed = self.stated[worker], self.parked[worker], self.listed[worker]
        able = [s for s, n in self.waiting[worker].items() if n > 0 and (s in said or parked.get(s, 0) <= t)]
        gone = [s for s in said if self.waiting[worker].get(s, 0) <= 0]
        free = STATED - len(said) + len(gone)
        turn = set(self.next_ones[worker])
        able.sort(key=lambda s: (s[0], s not in turn, s in said, listed.get(s, 0)))
        wants = {s: 0 for s in gone[:LISTED]}
        for subject in able:
            if len(wants) >= LISTED:
                break
            if subject in said or free > 0:
                free -= subject not in said
                wants[subject] = self.waiting[worker][subject]
        if not wants:
            times = [parked[s] for s, n in self.waiting[worker].items() if n > 0]
            if times:
                self.timer[worker] = self.at(min(times), 'wake', worker)
            return
        for subject, count in wants.items():
            listed[subject] = t
            if count > 0:
                said[subject] = count
            else:
                said.pop(subject, None)
        self.busy.add(worker)
        self.calls += 1
        self.warm_calls += t >= SECOND
        self.largest = max(self.largest, len(wants))
        self.at(t + self.random.randint(*self.trip), 'claim', worker, wants)

    def on_claim(self, t, number, worker, wants):
        answer = self.chain.claim(worker, wants, t)
        self.at(t + self.random.randint(*self.trip), 'answer', worker, *answer)

    def on_answer(self, t, number, worker, slots, again, next_ones, later):
        self.busy.discard(worker)
        said, parked = self.stated[worker], self.parked[worker]
        self.next_ones[worker] = next_ones
        for slot, subject in slots:
            self.waiting[worker][subject] -= 1
            said[subject] -= 1
            if said[subject] <= 0:
                del said[subject]
            self.at(max(slot, t), 'start', worker, subject, slot)
        for subject, due in later.items():
            parked[subject] = due
            said.pop(subject, None)
        unsaid = [max(parked.get(s, 0), t + LOOKAHEAD // 16) for s, n in self.waiting[worker].items()
                  if n > 0 and s not in said]
        if unsaid and len(said) < STATED:
            again = min([again] + unsaid)
        if again < NEVER:
            self.timer[worker] = self.at(max(again, t), 'wake', worker)

    def on_start(self, t, number, worker, subject, slot):
        blocked = [self.chain.outer.blocked] + [self.chain.inner[key].blocked for key in subject[2]]
        if max(blocked) > slot and max(blocked) > t:  # a slot inside a block is dropped, and claimed anew
            self.waiting[worker][subject] = self.waiting[worker].get(subject, 0) + 1
            self.dropped += 1
            self.ask(t, worker)
            return
        self.starts.append((slot, subject, worker, t))
        if self.load[worker][subject][2]:
            self.waiting[worker][subject] += 1  # the next one takes its place; the next claim states it

    # ---- what came of it

    def slots(self, of=lambda subject: True, since=0, till=NEVER):
        return sorted(slot for slot, subject, _, _ in self.starts if of(subject) and since <= slot < till)

    def rate(self, since=SECOND):
        return len(self.slots(since=since)) * SECOND / (self.until - since)

    def counts(self, since=SECOND, till=NEVER, by=lambda subject: subject):
        counts = {}
        for subjects in self.load.values():
            for subject in subjects:
                counts[by(subject)] = 0
        for slot, subject, _, _ in self.starts:
            counts[by(subject)] += since <= slot < till
        return counts

    def calls_a_start(self):
        return self.warm_calls / max(1, len(self.slots(since=SECOND)))


def broken_by(slots, interval, burst=1):
    """The first slot that breaks the rule, by the definition of GCRA; None: the rule holds in every window."""
    tat = 0
    for slot in slots:
        if slot < tat - (burst - 1) * interval:
            return slot
        tat = max(tat, slot) + interval
    return None


def jain(counts):
    """Jain's index of fairness: 1 if all have the same."""
    counts = list(counts)
    return sum(counts) ** 2 / max(1, len(counts) * sum(n * n for n in counts))
