#!/usr/bin/env python3
"""
Shows that the checker of the promises bites. Each mutant is one source file of lib/ with one piece of text replaced, a
fault somebody could make; some seed of fleet/promises must fail with it. A text that is not found exactly once (however
its lines are broken) means that the source has changed: give its mutant a new one.

Most are noticed by one of the first seeds. mutant_seeds.txt has the seed that noticed each of the others: it is tried
first, and all seeds in their order if it does not notice the mutant any more, which takes minutes.

Usage: test_mutants.py [--renew] [NAME...]; $TAKT_BUILD has the library, $TAKT_SOURCE the sources. --renew writes
mutant_seeds.txt anew.
"""

import concurrent.futures
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import tap  # noqa: E402

SOURCE = pathlib.Path(os.environ.get('TAKT_SOURCE') or pathlib.Path(__file__).resolve().parents[2])
BUILD = pathlib.Path(os.environ.get('TAKT_BUILD') or SOURCE / 'build')
SEEDS = 1500  # a mutant that has not been noticed by then is not
SECONDS = 900  # on a machine with much else to do
BYTES = 1 << 30  # a mutant that claims without end at one instant of virtual time ends there
BROKEN = re.compile(r'^promise \d is broken.*', re.MULTILINE)
KNOWN = SOURCE / 'tests' / 'fleet' / 'mutant_seeds.txt'
KNOWN_FROM = 10  # seeds before that are soon reached

# Name, file, what is written there, what the mutant has instead.
MUTANTS = [
    # never over, exact
    ('TAT is rounded down', 'core/gcra.c',
     'return (takt_fraction){us + parts / rule->tokens, parts % rule->tokens};',
     'return (takt_fraction){us + parts / rule->tokens, 0};'),
    ('TAT is rounded up', 'core/gcra.c',
     'return (takt_fraction){us + parts / rule->tokens, parts % rule->tokens};',
     'return (takt_fraction){us + parts / rule->tokens + (parts % rule->tokens > 0), 0};'),
    ('a bucket holds one token more', 'core/gcra.c',
     'wide tolerance = (wide)rule->burst * rule->span_us;',
     'wide tolerance = (wide)(rule->burst + 1) * rule->span_us;'),
    ('the text leaves out the parts of a microsecond', 'core/gcra.c',
     'if (state->gcra.tat.parts > 0) {',
     'if (state->gcra.tat.parts < 0) {'),
    ('a debt is forgotten when the numbers change', 'core/gcra.c',
     'if (backlog_us <= 0) {',
     'if (backlog_us <= 1000000) {'),
    ('a log counts a token a microsecond too short', 'core/sliding_log.c',
     'at_us = takt_log_slot_of(log, state->pages, leaving) + rule->span_us;',
     'at_us = takt_log_slot_of(log, state->pages, leaving) + rule->span_us - 1;'),
    ('a window gives one token more', 'core/fixed_window.c',
     'return found.used + cost <= rule->tokens ? found.at_us : next_with(rule, state, found, cost);',
     'return found.used + cost <= rule->tokens + 1 ? found.at_us : next_with(rule, state, found, cost);'),
    ('a request takes its cost of a rule that counts requests', 'core/numbers.c',
     'rule->algorithm->commit(rule, &state->rules[i], t_us, taken.of[rule->unit]);',
     'rule->algorithm->commit(rule, &state->rules[i], t_us, taken.of[TAKT_UNIT_TOKENS]);'),
    ('a rule that counts requests gives nothing back', 'core/ledger_calls.c',
     'less.of[unit] = takt_max(taken.of[unit] - used.of[unit], 0);',
     'less.of[unit] = unit == TAKT_UNIT_REQUESTS ? 0 : takt_max(taken.of[unit] - used.of[unit], 0);'),
    ('as many slots of one instant as there are tokens', 'core/numbers.c',
     'int64_t n = takt_debt_room(rule, &state->rules[i], t_us, t_us) / taken.of[rule->unit];',
     'int64_t n = rule->unit == TAKT_UNIT_TOKENS '
     '? takt_debt_room(rule, &state->rules[i], t_us, t_us) / taken.of[rule->unit] : count;'),
    ('a request takes one of each further unit', 'core/numbers.c',
     'rule->algorithm->commit(rule, &state->rules[i], t_us, taken.of[rule->unit]);',
     'rule->algorithm->commit(rule, &state->rules[i], t_us, '
     'taken.of[rule->unit < TAKT_UNIT_MORE ? rule->unit : TAKT_UNIT_REQUESTS]);'),
    ('a turn ends with its tokens alone', 'core/ledger_claim.c',
     'EACH_UNIT(unit, units) count = takt_min(count, left->of[unit] > 0',
     'EACH_UNIT(unit, 1) count = takt_min(count, left->of[unit] > 0'),
    ('a large turn counts as a usual one', 'core/line.c',
     'takt_max(turn, place->turn + moves)',
     'turn'),
    ('a turn is large beside the largest need alone', 'core/worth.c',
     'least_us = takt_min(least_us, takt_numbers_worth(',
     'least_us = takt_max(least_us == TAKT_SPAN_MAX_US ? 0 : least_us, takt_numbers_worth('),
    ('beside a place that owes turns small ones count as nothing', 'core/ledger_claim.c',
     'return me->turn > ledger->turn || takt_line_owes(ledger, me->priority);',
     'return false;'),
    ('a turn is worth its tokens alone', 'core/numbers.c',
     'amounts.of[rule->unit] * (uint64_t)rule->span_us / (uint64_t)rule->tokens;',
     'amounts.of[rule->unit] * (rule->unit == TAKT_UNIT_TOKENS) * (uint64_t)rule->span_us / (uint64_t)rule->tokens;'),
    ('a claim states no further units', 'scheduler/queue.c',
     'last->more = permit->more;', 'last->more = TAKT_NO_MORE;'),
    ('a rule that counts requests takes over from one that counts tokens', 'core/convert.c',
     'from->rules[i].unit == rule->unit &&',
     ''),
    ('the line forgets requests', 'core/line.c',
     ': unit == TAKT_UNIT_REQUESTS ? place->waiting',
     ': unit == TAKT_UNIT_REQUESTS ? 0'),
    ('a bucket leaves nothing for late starts', 'core/gcra.c',
     'wide period = (wide)(rule->period_us + rule->guard_us) * 10000;',
     'wide period = (wide)rule->period_us * 10000;'),
    ('a log leaves nothing for late starts', 'core/window.c',
     'rule->span_us = rule->period_us + rule->guard_us; if (rule->tokens < 1)',
     'rule->span_us = rule->period_us; if (rule->tokens < 1)'),
    ('a window leaves nothing for late starts', 'core/fixed_window.c',
     'found.late + (is_late(rule, found.start_us, t_us) ? cost : 0);',
     'found.late;'),
    ('work begins however late it is', 'scheduler/scheduler.c',
     'if (queue->claims.hint != UNHINTED) return; miss(scheduler, queue, now_us);',
     'if (queue->claims.hint != UNHINTED) return;'),
    ('an award excuses the slots before it', 'scheduler/scheduler.c',
     'miss(scheduler, queue, received_us);',
     ''),
    ('a sliding window forgets the window before', 'core/sliding_window.c',
     'int64_t max = rule->tokens - takt_mul_div_up(v.previous, left_us, rule->span_us);',
     'int64_t max = rule->tokens - 0 * left_us;'),
    ('only the first rule is kept', 'core/numbers.c',
     'if (t_us == TAKT_NEVER) break;',
     'break;'),
    ('a clock jumps back each time', 'core/gcra.c',
     'takt_fraction furthest = plus((takt_fraction){now_us + reach_us, 0}, rule->tolerance, rule->tokens);',
     'takt_fraction furthest = {now_us + reach_us / 40, 0};'),
    ('a stale claim is accepted', 'core/line.c',
     'ledger->line[i].seq >= claim->seq',
     'ledger->line[i].seq >= claim->seq + 1000000'),
    ('slots beyond the lookahead', 'core/ledger_claim.c',
     'int64_t till_us = now_us + ledger->numbers->lookahead_us;',
     'int64_t till_us = now_us + 2 * ledger->numbers->lookahead_us;'),
    ('slots after a waiter has left', 'core/ledger_claim.c',
     'int64_t until_us = want->latest_us < till_us ? want->latest_us : near_us;',
     'int64_t until_us = near_us;'),
    ('a fresh ledger where the state still matters', 'core/ledger_calls.c',
     'int64_t at_us = takt_numbers_rest_at(ledger->numbers, &ledger->state);',
     'int64_t at_us = 0;'),
    ('a fresh ledger after a block', 'core/ledger_calls.c',
     'at_us = takt_max(at_us, takt_brake_ends_at(ledger));',
     ''),
    ('of one revision the last one holds', 'core/ledger.c',
     'withstands(&ledger->contest, now_us))',
     'withstands(&ledger->contest, now_us) && false)'),
    ('another policy of one revision is not told', 'core/ledger.c',
     '(numbers->revision < ledger->numbers->revision || !takt_numbers_same(numbers, ledger->numbers));',
     'numbers->revision < ledger->numbers->revision;'),
    ('rules that are stated do not withstand', 'core/ledger.c',
     'contest->stated_at_us = now_us; if (contest->contested_at_us > now_us',
     'if (contest->contested_at_us > now_us'),
    ('a head that goes is no news', 'core/ledger_claim.c',
     'award->news |= is_news(ledger, claim, needed, given, award);',
     ''),
    ('an older policy holds', 'core/ledger.c',
     'numbers->revision < ledger->numbers->revision) return;',
     'numbers->revision > ledger->numbers->revision + 1000) return;'),
    # weights
    ('claims state no weight', 'scheduler/claims.c',
     'claim->weight = queue->weight;',
     'claim->weight = 0;'),
    ('the text leaves out weights', 'core/ledger_text.c',
     'if (place->weight > 1)',
     'if (place->weight < 1)'),
    ('shares are by workers', 'core/view.c',
     'weight += place->weight;',
     'weight++;'),
    ('a claim ends a turn of several shares', 'core/ledger_claim.c',
     'me->left = takt_max(v->shares - used, 0);',
     'me->left = 0;'),
    ('a turn that has begun begins again', 'core/line.c',
     'int64_t shares = place->left > 0 ? place->left : place->weight;',
     'int64_t shares = place->weight;'),
    ('others leave one share to a heavy worker', 'core/view.c',
     'shares_before += i < at ? takt_line_shares(place) : 0;',
     'shares_before += i < at;'),
    ('shares are left to waiters that are not there', 'core/line.c',
     'return takt_max(takt_min(shares, place->waiting), 1);',
     'return takt_max(shares, 1);'),
    ('a part of a share is a turn', 'core/ledger_claim.c',
     '? takt_view_too_little(ledger, me, &left, use)',
     '? false'),
    ('a part of a turn is a turn', 'core/ledger_claim.c',
     ': v->shared && takt_view_turn_from(ledger, now_us, me, v, false, false) > now_us;',
     ': false;'),
    ('turns are cut within a share', 'core/ledger_claim.c',
     'EACH_UNIT(unit, whole > 0 ? units : 0)',
     'EACH_UNIT(unit, whole < 0 ? units : 0)'),
    # blocks
    ('a block is ignored', 'core/ledger_claim.c',
     'takt_view v = takt_view_of(ledger, now_us, at, false); '
     'int64_t from_us = takt_max(now_us, ledger->blocked_until_us);',
     'takt_view v = takt_view_of(ledger, now_us, at, false); int64_t from_us = now_us;'),
    ('a block is shortened', 'core/ledger_calls.c',
     'if (now_us + for_us <= ledger->blocked_until_us)',
     'if (now_us + for_us == ledger->blocked_until_us)'),
    ('a burst after a block', 'core/gcra.c',
     'if (in_parts(tat, rule->tokens) > in_parts(state->gcra.tat, rule->tokens)) { state->gcra.tat = tat; '
     'forget_lows(state); }',
     '(void)tat;'),
    ('a block spends what the rules have', 'core/ledger.c',
     'takt_brake_exhaust(ledger, ledger->blocked_until_us);',
     'takt_numbers_exhaust(ledger->numbers, &ledger->state, ledger->blocked_until_us);'),
    ('a block saves up for its end', 'core/ledger.c',
     'takt_brake_exhaust(ledger, ledger->blocked_until_us);',
     ''),
    ('a burst after an unblock', 'core/ledger_calls.c',
     'takt_brake_exhaust(ledger, now_us);',
     ''),
    ('the pace after a block is never kept', 'core/brake.c',
     'takt_min(ends_us - brake->paced_from_us, TAKT_PACED_MAX_US)',
     '0'),
    ('the pace after a block ends too soon', 'core/brake.c',
     'takt_min(ends_us - brake->paced_from_us, TAKT_PACED_MAX_US)',
     'takt_min(ends_us - brake->paced_from_us, TAKT_PACED_MAX_US) / 2'),
    ('the pace after a block ends too late', 'core/brake.c',
     'takt_min(ends_us - brake->paced_from_us, TAKT_PACED_MAX_US)',
     'TAKT_PACED_MAX_US'),
    ('a block in a block begins anew', 'core/brake.c',
     'if (brake->paced_until_us == 0 || brake->paced_from_us > now_us)',
     'if (true)'),
    ('a changed pace forgets what was given', 'core/brake.c',
     'if (rule->tokens > 0) takt_gcra_pour(rule, &changed, state_of(ledger), now_us); else',
     ''),
    ('the text leaves out the pace', 'core/ledger_text.c',
     'if (ledger->brake.paced_until_us > 0) {',
     'if (ledger->brake.paced_until_us < 0) {'),
    ('a reset ends the pace of a block that lasts', 'core/brake.c',
     'if (ledger->blocked_until_us <= now_us) end_pace(ledger);',
     'end_pace(ledger);'),
    ('a penalty that ends takes the pace along', 'core/brake.c',
     'if (brake->percent == 0) brake->since_us = brake->counted_at_us = 0;',
     'if (brake->percent == 0) *brake = (takt_brake){0};'),
    ('the end of the pace is not foreseen', 'core/brake.c',
     'takt_min(at_us, takt_max(t_us, state->gcra.until_us));',
     'at_us;'),
    ('the text leaves out the block', 'core/ledger_text.c',
     'return ledger->blocked_until_us > 0;',
     'return ledger->blocked_until_us < 0;'),
    ('slots in hand are used in a block', 'scheduler/scheduler.c',
     'takt_slots_drop_before(&queue->in_hand, award->blocked_until_us);',
     ''),
    # penalties
    ('a penalty leaves the rate as it is', 'core/brake.c',
     'takt_max(percent * adapt->backoff / TAKT_WHOLE_PERCENT, adapt->floor)',
     'takt_max(percent, adapt->floor)'),
    ('the rate comes back twice as fast', 'core/brake.c',
     'takt_mul_div(now_us - brake->since_us, adapt->recover, adapt->recover_us)',
     'takt_mul_div(now_us - brake->since_us, 2 * adapt->recover, adapt->recover_us)'),
    ('a change of the rate forgets what was given', 'core/brake.c',
     'takt_gcra_pour(rule, &changed, state_of(ledger), now_us);',
     'takt_gcra_rest(&changed, state_of(ledger), now_us);'),
    ('the text leaves out what the brake has given', 'core/ledger_text.c',
     'takt_gcra_write_state(&state->brake, &state->rules[ledger->numbers->rule_count], writer);',
     'takt_write_int(writer, 0);'),
    # never early
    ('a slot is used a millisecond early', 'scheduler/scheduler.c',
     'int64_t due_us = takt_clock_store(&queue->server->clock, now_us); int64_t slot_us;',
     'int64_t due_us = takt_clock_store(&queue->server->clock, now_us) + 1000; int64_t slot_us;'),
    ('clocks do not drift', 'scheduler/clock.c',
     '#define DRIFT_PER 5000',
     '#define DRIFT_PER INT64_C(1000000000000)'),
    ('the store is believed to answer at once', 'scheduler/clock.c',
     'int64_t bound = received_us - store_now_us;',
     'int64_t bound = sent_us - store_now_us;'),
    ('work begins after its deadline', 'scheduler/scheduler.c',
     'while (first_deadline(queue) < now_us)',
     'while (first_deadline(queue) < 0)'),
    # no polling
    ('claims are repeated all the time', 'core/view.c',
     'return takt_max(takt_view_turn_from(ledger, now_us, me, v, weighed, true),',
     'return takt_max(now_us,'),
    ('a worker with slots lets its turn go by', 'scheduler/scheduler.c',
     'queue->awarded.left_few = award->least_urgent < 0 &&',
     'queue->awarded.left_few ='),
    ('a worker comes at each keepalive and not when it was told', 'scheduler/claims.c',
     'return takt_min(at_us, queue->claims.sent_at_us + TAKT_KEEPALIVE_US);',
     'return queue->claims.sent_at_us + TAKT_KEEPALIVE_US;'),
    # fair
    ('nobody leaves room for those before', 'core/view.c',
     'v.ahead.of[unit] = v.urgent.of[unit] + takt_min(ahead, others.of[unit]);',
     'v.ahead.of[unit] = 0 * ahead;'),
    ('priorities are ignored', 'core/view.c',
     'v.ahead.of[unit] = v.urgent.of[unit] + takt_min(ahead, others.of[unit]);',
     'v.ahead.of[unit] = takt_min(ahead, others.of[unit]);'),
    ('the first in line takes all', 'core/view.c',
     'v.share.of[unit] = takt_max(takt_max(through.of[unit], v.room.of[unit]) / weight, 1);',
     'v.share.of[unit] = takt_max(v.room.of[unit], 1);'),
    ('who was served stays at the front', 'core/ledger_claim.c',
     'given.of[TAKT_UNIT_TOKENS] > 0 && ledger->line[at].left == 0)',
     'given.of[TAKT_UNIT_TOKENS] < 0)'),
    ('last come, first served', 'scheduler/queue.c',
     'for (const takt_link *at = head->next; at != head && *looks > 0; at = at->next, --*looks) {',
     'for (const takt_link *at = head->previous; at != head && *looks > 0; at = at->previous, --*looks) {'),
    # work conserving, nobody lost or charged in vain
    ('told to come too late', 'core/view.c',
     'due_us = takt_min(due_us, first_us + lookahead_us / 2); return due_us - lookahead_us;',
     'due_us = takt_min(due_us, first_us + lookahead_us / 2); return due_us + lookahead_us;'),
    ('refused waiters are charged', 'core/overflow.c',
     'award->refused += count;\n        leave(ledger, level, at, count, claim);',
     'award->refused += count;\n        leave(ledger, level, at, count, claim);\n'
     '        takt_numbers_commit(ledger->numbers, &ledger->state, award->now_us,\n'
     '                            takt_amounts_of(count, TAKT_NO_MORE));'),
    ('who was counted is refused', 'scheduler/queue.c',
     'return last_that_is(queue, STATED);',
     'return takt_queue_last(queue);'),
    ('one waiter too many is refused', 'core/overflow.c',
     'return waiting - ledger->numbers->max_waiting;',
     'return waiting - ledger->numbers->max_waiting + 1;'),
    ('the newest are dropped', 'core/overflow.c',
     'theirs = first_of(ledger, award->now_us, claimer, ledger->line[theirs].priority);',
     ';'),
    ('those as urgent are dropped', 'core/overflow.c',
     'return mine >= 0 && ledger->line[theirs].priority > my_priority ? theirs : mine;',
     'return theirs;'),
    ('who was dropped is not told', 'core/overflow.c',
     'takt_wakes_add(award, place, level);',
     ';'),
    ('nobody hurries where the oldest are dropped', 'core/ledger_claim.c',
     'if (v.permits > 0 && ledger->line[at].again_at_us >',
     'if (v.permits < 0 && ledger->line[at].again_at_us >'),
    ('a lost answer is waited for', 'scheduler/loss.c',
     'return now_us + 1 + takt_random_below(random, longest);',
     'return TAKT_NEVER - longest;'),
    ('waiters with a slot in hand ask for another', 'scheduler/queue.c',
     'slots->count[at] += run->count;',
     'slots->count[at] += 0;'),
    ('waiters leave before their deadline', 'scheduler/scheduler.c',
     'return permit->deadline_at_us < takt_clock_local(&queue->server->clock, store_us) &&',
     'return permit->deadline_at_us < takt_clock_local(&queue->server->clock, store_us) + 3000000 &&'),
    # without the store
    ('a worker alone takes the whole rate', 'scheduler/share.c',
     'workers > 1 ? workers : 1',
     '1'),
    ('a worker alone begins at once', 'scheduler/loss.c',
     'from_us = store_now(queue, now_us) + queue->numbers->lookahead_us;',
     'from_us = store_now(queue, now_us) - 10000000;'),
    # nodes
    ('all nodes are one', 'scheduler/server.c',
     'if (number == 0 ||',
     'if (number >= 0 ||'),
    ('all nodes are lost with one', 'scheduler/loss.c',
     'takt_loss_begin(scheduler, queue->server, status, now_us);',
     'for (int i = 0; i < scheduler->servers.more_count; i++)\n'
     '            takt_loss_begin(scheduler, scheduler->servers.more[i], status, now_us);'),
    ('a node that answers is lost', 'scheduler/loss.c',
     'takt_loss_end(scheduler, queue->server);',
     ';'),
    ('a moved ledger keeps the clock of its old node', 'scheduler/scheduler.c',
     'queue->server = server; queue->server->in_flight',
     'if (!queue->server->clock.known) queue->server = server; queue->server->in_flight'),
    ('a share goes on by the clock of another node', 'scheduler/scheduler.c',
     'takt_loss_set_alone(queue, false); /* a share',
     '/* a share'),
    ('slots in hand are judged without a clock', 'scheduler/loss.c',
     'if (!queue->server->clock.known) takt_slots_drop_before(',
     'if (false) takt_slots_drop_before('),
    ('an award is used that no replica has', '../simulate/network.c',
     'return !fleet->replicas || !fleet->ledgers[ledger].lags;',
     'return !fleet->replicas || ledger >= 0;'),
    ('a replica has nothing', '../simulate/nodes.c',
     'if (record->lags && !takt_virtual_store_copy(&record->store, &record->replica))',
     'takt_virtual_store_forget(&record->store); if (false)'),
    # permits
    ('one permit too many', 'core/holders.c',
     'ledger->numbers->concurrency - held : 0;',
     'ledger->numbers->concurrency - held + 1 : 1;'),
    ('what is held is not written down', 'core/holders.c',
     'int64_t held = takt_holders_accepted(ledger, claim, claim->holding);',
     'int64_t held = 0;'),
    ('what is let go is not believed', 'core/holders.c',
     'holding > known && holding - known > unheld ? known + unheld : holding;',
     'holding > known && holding - known > unheld ? known + unheld : holding > known ? holding : known;'),
    ('a stale statement is accepted', 'core/holders.c',
     'ledger->holders[at].seq >= claim->seq;',
     'ledger->holders[at].seq >= claim->seq + 1000000;'),
    ('a lease has no end', 'core/holders.c',
     'holder.expires_at_us >= now_us && ledger->numbers->concurrency > 0',
     'ledger->numbers->concurrency > 0'),
    ('a lease ends too soon', 'core/holders.c',
     'now_us + takt_max(ledger->numbers->lease_us, ledger->lease_min_us);',
     'now_us + ledger->numbers->lease_us / 2;'),
    ('a ledger is forgotten while permits are held', 'core/ledger_calls.c',
     'at_us = takt_max(at_us, ledger->leased_until_us);',
     ''),
    ('a number is given twice', 'core/award.c',
     'ledger->fence = award->fence + given + award->reuses - 1;',
     'ledger->fence = award->fence + award->reuses;'),
    ('nobody is woken', 'core/award.c',
     'takt_wakes_add(award, place, level);',
     ';'),
    ('workers are woken in vain', 'core/award.c',
     'if (left <= (kept < others ? kept : others))',
     'if (left <= 0)'),
    ('nobody comes when a lease ends', 'core/ledger_claim.c',
     'if (v.ahead.of[TAKT_UNIT_TOKENS] == 0) over_us =',
     'if (v.ahead.of[TAKT_UNIT_TOKENS] < 0) over_us ='),
    ('everybody comes when a lease ends', 'core/ledger_claim.c',
     'if (v.ahead.of[TAKT_UNIT_TOKENS] == 0) over_us =',
     'over_us ='),
    ('who comes when a lease ends comes too soon', 'core/holders.c',
     'at_us = takt_min(at_us, ledger->holders[i].expires_at_us + 1);',
     'at_us = takt_min(at_us, ledger->holders[i].expires_at_us);'),
    ('nobody looks after a dead head', 'core/ledger_claim.c',
     'again_us = takt_min(again_us, head_late_at(ledger, now_us, at));',
     ';'),
    ('the second in line comes too late', 'core/ledger_claim.c',
     'takt_max(head->again_at_us + ledger->numbers->lookahead_us + 1,',
     'takt_max(head->again_at_us + 2 * ledger->numbers->lookahead_us + 1,'),
    ('everybody looks after a dead head', 'core/ledger_claim.c',
     'if (head) return TAKT_NEVER; head = place;',
     'head = place;'),
    ('a head is not late when it was told of a lease', 'core/ledger_claim.c',
     'place->again_at_us = takt_min(again_us, keepalive_us);',
     'place->again_at_us = place->lacking ? keepalive_us : takt_min(again_us, keepalive_us);'),
    ('a worker does not look at its lease', 'scheduler/permits.c',
     'return in_use(queue) > 0 && queue->holding.told > 0 ? queue->holding.leased_until_us : TAKT_NEVER;',
     'return TAKT_NEVER;'),
    ('a lease is counted from nowhere', 'scheduler/permits.c',
     'holding->leased_until_us = sent_us + lease_us - lease_us / DRIFT - award->lease_spent_us;',
     'holding->leased_until_us = sent_us + 2 * lease_us;'),
    ('a holder is not heard of', 'scheduler/permits.c',
     'return queue->claims.sent_at_us + takt_queue_lease(queue) / 3;',
     'return TAKT_NEVER;'),
    ('a release is not told', 'scheduler/permits.c',
     'told > used || (queue->claims.nudged && told > 0)',
     '(queue->claims.nudged && told > 0)'),
    ('slots in hand hold no permit', 'scheduler/permits.c',
     'return queue->holding.running + queue->in_hand.count;',
     'return queue->holding.running;'),
    ('a permit is handed on past those who wait', 'core/award.c',
     'ledger->inner_count > 0 || award->least_urgent >= 0',
     'ledger->inner_count > 0'),
    # a sliding window's late tokens
    ('late tokens are not held back', 'core/sliding_window.c',
     'takt_max(late - quarter(rule), 0),',
     '0 * late,'),
    ('too much is held back', 'core/sliding_window.c',
     'takt_max(late - quarter(rule), 0),',
     'late,'),
    # slots handed on to more urgent work
    ('an offer is given twice', 'core/offers.c',
     'drop(ledger, best);',
     ';'),
    ('a slot that was handed on is used', 'scheduler/claims.c',
     'if (offer->cost > 0 && takt_slots_take_out(&queue->in_hand, offer->slot_us, offer->cost) < 0)',
     'if (false)'),
    ('an offer is given to the less urgent', 'core/ledger_claim.c',
     'if (v.urgent.of[TAKT_UNIT_TOKENS] == 0 && ledger->inner_count == 0)',
     'if (ledger->inner_count == 0)'),
    ('offers are asked for all the time', 'core/offers.c',
     'if (claim->distant || place->accepted > 0 || ledger->offers.asked_at_us > 0 || '
     'ledger->offers.count > 0 || are_none(numbers) || ledger->tenant_count > 0)',
     'if (are_none(numbers))'),
    # tenants
    ('a tenant pays nothing for its slots', 'core/ledger_claim.c',
     'takt_tenants_charge(ledger, at, given);',
     ';'),
    ('tags know no weights', 'core/tenants.c',
     'tenant->tag + price * TAKT_TENANT_STEP / tenant->weight',
     'tenant->tag + price * TAKT_TENANT_STEP'),
    ('the tenant with the highest tag goes first', 'core/tenants.c',
     'return left < right || (left == right && a < b);',
     'return left > right || (left == right && a > b);'),
    ('nothing is left to tenants that go before', 'core/tenants.c',
     'own = left_to(tenant, mine->tag, unit, total, weights);',
     'own = 0 * left_to(tenant, mine->tag, unit, total, weights);'),
    ('a tenant that comes back has saved its turns', 'core/tenants.c',
     'tenant->tag = takt_min(takt_max(tenant->tag - lowest[tenant->priority], 0), TAKT_EXACT_MAX / 2);',
     ';'),
    ('workers of tenants are not woken', 'core/tenants.c',
     'takt_wakes_add(award, place, level);',
     ';'),
    ('a number for a tenant is woken, which nobody has', 'core/wakes.c',
     'uint64_t worker = place->client ? place->client : place->worker;',
     'uint64_t worker = place->worker;'),
    ('the text forgets what tenants were given', 'core/ledger_text.c',
     "write_number(writer, ',', tenant->tag);",
     "write_number(writer, ',', 0);"),
    ('the late head of a tenant holds up the others', 'core/tenants.c',
     'if (tenant->places == 0 && place->again_at_us + ledger->numbers->lookahead_us < now_us)',
     'if (tenant->places == 0 && place->again_at_us < 0)'),
    ('a tenant that was served stays first in its worker', 'scheduler/order.c',
     'if (queue->turn && queue->turn->priority >= 0) move_to_end(scheduler, queue->turn, queue->turn->priority);',
     ';'),
    ('tenants of a worker keep their places in line', 'scheduler/turns.c',
     'turn->of->standing_count--;',
     ';'),
    ('a tenant does not pay for what its work has used beside its slots', 'store/run.c',
     'if (call->tenant)',
     'if (call->tenant && call->tenant_weight == 0)'),
    # tenants of nested limits
    ('a place waits inside for tenants that wait for it outside', 'core/tenants.c',
     'if (ledger->tenants[i].behind)',
     'if (false)'),
    ('many tenants of one subject delay the others of their worker', 'scheduler/order.c',
     'while (next->previous != order && turn_of(next->previous)->round > turn->round)',
     'while (false)'),
    ('an innermost line has no tenants', 'scheduler/claims.c',
     'claim->inner_tenant = takt_nest_tenant(queue, 0, &claim->inner_weight);',
     ';'),
    # nested limits
    ('a slot is not taken from the inner limits', 'core/inner.c',
     'takt_numbers_commit(at.inner->numbers, &at.inner->state, at_us, takt_amounts_by(at.inner->units, one));',
     ';'),
    ('an inner limit takes the amounts of other units', 'core/inner.c',
     'takt_numbers_commit(at.inner->numbers, &at.inner->state, at_us, takt_amounts_by(at.inner->units, one));',
     'takt_numbers_commit(at.inner->numbers, &at.inner->state, at_us, one);'),
    ('an inner limit looks at the amounts of other units', 'core/inner.c',
     'takt_max(from_us, at.inner->blocked_until_us), takt_amounts_by(at.inner->units, one));',
     'takt_max(from_us, at.inner->blocked_until_us), one);'),
    ('the units of inner limits are not told', 'store/record.c',
     '(inner[i] = &scratch->inner[i].ledger)->units = call->inner[i].units;',
     '(inner[i] = &scratch->inner[i].ledger)->units = (takt_unit_map){{0}};'),
    ('what inner limits give of further units does not count', 'core/inner.c',
     'return (int)takt_max(takt_numbers_units(inner->numbers), TAKT_UNIT_MORE);',
     'return (int)takt_min(takt_numbers_units(inner->numbers), TAKT_UNIT_MORE);'),
    ('turns of tenants count tokens alone', 'core/tenants.c',
     'if (takt_numbers_units(ledger->numbers) == 1)',
     'if (unit >= 0)'),
    ('tenants pay in a unit that no rule counts', 'core/tenants.c',
     'int unit = priced_unit(ledger); int64_t worth_us;',
     'int unit = TAKT_UNIT_TOKENS; int64_t worth_us; if (unit == 0) return amounts.of[0];'),
    ('slots that are passed over are lost', 'core/inner.c',
     'takt_gaps_pass_over(ledger, from_us, at_us);',
     ';'),
    ('a slot that was passed over is given twice', 'core/inner.c',
     'takt_gaps_take(ledger, at_us);',
     ';'),
    ('a block ends what is passed over', 'core/gaps.c',
     'ledger->state.brake.tokens == 0 || brake_adds_nothing(ledger, rule)',
     'ledger->state.brake.tokens == 0'),
    ('nothing is left to those that go before in an inner line', 'core/inner_line.c',
     'return v.ahead;',
     'return (takt_amounts){{0}};'),
    ('a turn in an inner line does not end', 'core/inner_line.c',
     'takt_line_end_turn(inner, turn->at[i], 0, 0);',
     ';'),
    ('a turn in an inner line has no bound', 'core/inner_line.c',
     'if (is_contested(inner, at)) *left',
     'if (at < 0) *left'),
    ('a parked worker leaves the inner line', 'core/inner_line.c',
     'again_at_us + TAKT_SILENT_US;',
     'now_us - 1;'),
    ('a worker claims for its inner turn too early', 'core/inner_line.c',
     'takt_max(from_us, takt_view_turn_from(inner',
     'takt_min(from_us, takt_view_turn_from(inner'),
    ('a permit of an inner limit is not recorded', 'core/inner_permits.c',
     'takt_holders_give(ledger->inner[i], now_us, claim, count);',
     '(void)count;'),
    ('what a worker states is not recorded by inner ledgers', 'core/inner_permits.c',
     'takt_holders_record(ledger->inner[i], now_us, claim, held);',
     ';'),
    ('a worker is the same one for each outer key of an inner key', 'scheduler/nest.c',
     'worker = takt_tenant_worker(worker, queue->key);',
     ';'),
    ('the permits of inner limits do not bound a turn', 'core/inner_line.c',
     'turn->permits = takt_min(turn->permits, v.permits);',
     ';'),
    ('nobody is woken for a permit of an inner limit', 'core/award.c',
     'wake(ledger->inner[i], claim->worker, i + 1, award);',
     ';'),
    ('the bounds of inner limits do not count', 'core/overflow.c',
     'if (is_bounded(ledger->inner[i]) && takt_numbers_drops',
     'if (false && takt_numbers_drops'),
    ('a level that refuses does not count dropped waiters', 'core/overflow.c',
     'return ledger->numbers->max_waiting > 0 && !takt_numbers_drops(ledger->numbers);',
     'return false && ledger;'),
    ('levels that drop come first', 'core/overflow.c',
     'apply_all(ledger, false, claim, award); moved = apply_all(ledger, true, claim, award);',
     'moved = apply_all(ledger, true, claim, award); apply_all(ledger, false, claim, award);'),
    ('levels that drop do so from the outermost', 'core/overflow.c',
     'for (int i = 0; i < ledger->inner_count; i++) if (is_bounded(ledger->inner[i]) && takt_numbers_drops',
     'for (int i = ledger->inner_count - 1; i >= 0; i--) if (is_bounded(ledger->inner[i]) && takt_numbers_drops'),
    ('waiters that leave one level stay in the others', 'core/overflow.c',
     'if (at >= 0) leave_line(level_of(ledger, other), at, count, claim);',
     ';'),
    ('waiters of inner lines are refused while there is room', 'core/overflow.c',
     'return waiting - ledger->numbers->max_waiting;',
     'return waiting - ledger->numbers->max_waiting + (ledger->tenant_count > 0);'),
    ('parked places do not count where the oldest are dropped', 'core/overflow.c',
     'place->tenant > 0 && place->waiting > 0 &&',
     'place->tenant < 0 && place->waiting > 0 &&'),
    ('newcomers of inner bounds are not stated', 'scheduler/queue.c',
     'lowest = lower(lowest, &queue->nest->inner[i].limit->numbers, refusing);',
     ';'),
    ('a parked queue keeps its newcomers to itself', 'scheduler/claims.c',
     'if (queue->awarded.unlisted ||',
     'if (queue->awarded.parked_until_us != 0 || queue->awarded.unlisted ||'),
    ('woken while its claim is under way, a queue is parked', 'scheduler/scheduler.c',
     'award->parked && !(queue->claims.woken && takt_queue_has_bound(queue))',
     'award->parked'),
    ('waiters that no line has counted are accepted', 'scheduler/scheduler.c',
     'if (!award->unlisted)',
     'if (true)'),
    ('a job holds no permit of an inner limit', 'scheduler/queue.c',
     'has = has || queue->nest->inner[i].limit->numbers.concurrency > 0;',
     'has = has || false;'),
    ('the lease of an inner limit does not count', 'scheduler/queue.c',
     'lease_us = takt_min(lease_us, numbers->lease_us);',
     'lease_us = lease_us == TAKT_NEVER ? numbers->lease_us : lease_us;'),
    ('tenants that are woken in vain claim without a pause', 'scheduler/permits.c',
     'return queue->claims.in_vain ?',
     'return pause_us < 0 ?'),
    ('a tenant plans for itself alone', 'core/tenants.c',
     'if (plan && head)',
     'if (plan && !head)'),
    ('claims do not wait for others of their worker', 'scheduler/claims.c',
     'return at_us + patience(queue);',
     'return at_us;'),
    ('claims wait for others until their slots have passed', 'scheduler/claims.c',
     'takt_min(half_us / 2, half_us - queue->awarded.shorter_trip_us);',
     '4 * half_us;'),
    ('a place that its inner rules hold up leaves the line at once', 'core/ledger_claim.c',
     'turn_us > now_us + 2 * ledger->numbers->lookahead_us &&',
     'turn_us < 0 &&'),
    ('a worker claims alone for each inner key', 'scheduler/order.c',
     'takt_registry_touch(scheduler, turn_of(at)->queue);',
     '(void)scheduler;'),
    ('the tenants of a client stand apart', 'core/tenants.c',
     'if (behind >= 0 && behind < index)',
     'if (behind < 0 && behind < index)'),
    ('of equal tenants the last goes first', 'core/tenants.c',
     'return left < right || (left == right && a < b);',
     'return left < right || (left == right && a > b);'),
    ('a parked queue does not hear of its inner limit', 'scheduler/order.c',
     'queue->awarded.parked_until_us = 0;',
     ';'),
    ('queues that wait for their turn are forgotten', 'scheduler/scheduler.c',
     'return pass_us == TAKT_NEVER && queue->waiters.total == 0 &&',
     'return pass_us == TAKT_NEVER &&'),
    ('a full table forgets no tenant', 'core/tenants.c',
     'if (found >= 0) drop(ledger, found); return found >= 0;',
     'return false;'),
    # deadlines
    ('those ahead are counted twice', 'core/view.c',
     '(head ? needed + before - 1 : 0);',
     '(head ? needed + 2 * before : 0);'),
    # handed back
    ('slots are handed back twice', 'scheduler/unused.c',
     'if (!join(&queue->unused.slots, run) && takt_slots_add(&queue->unused.slots, run, 1, 0) < 0)',
     'if (takt_slots_add(&queue->unused.slots, run, 1, 0) < 0 || takt_slots_add(&queue->unused.slots, run, 1, 0) < 0)'),
    ('slots that are used are handed back', 'scheduler/scheduler.c',
     'if (!permit) slot = takt_slots_next_run(&queue->in_hand); takt_slots_pop(&queue->in_hand); '
     'if (!permit) { takt_unused_add(scheduler, queue, &slot);',
     'slot = takt_slots_next_run(&queue->in_hand); takt_slots_pop(&queue->in_hand); '
     'takt_unused_add(scheduler, queue, &slot); if (!permit) {'),
    ('a bucket takes back what others came behind', 'core/gcra.c',
     'min.us += until_us - slot_us + 1;',
     ';'),
    ('a bucket takes back twice as much', 'core/gcra.c',
     'tat = later_of(tat, min, rule->tokens);',
     'tat = minus(tat, intervals(rule, unused), rule->tokens);'),
    ('a bucket takes nothing back', 'core/gcra.c',
     'tat = later_of(tat, min, rule->tokens);',
     'tat = state->gcra.tat;'),
    ('a window takes back what is of another', 'core/fixed_window.c',
     'if (slot_us < start_us || slot_us >= after(rule, start_us, 1) || state->fixed_window.unopened)',
     'if (state->fixed_window.unopened)'),
    ('a window takes nothing back', 'core/fixed_window.c',
     '*count -= back;',
     '*count -= 0;'),
    ('a debt is forgotten', 'core/debt.c',
     'state->owed = takt_min(state->owed + tokens - n, TAKT_RULE_LIMIT_MAX);',
     ';'),
    ('slots go before what is owed', 'core/debt.c',
     'return takt_min(rule->algorithm->due(rule, state, 0, state->owed + n), TAKT_WINDOW_END);',
     'return takt_min(rule->algorithm->due(rule, state, 0, n), TAKT_WINDOW_END);'),
    ('a debt is not written down', 'core/rule.c',
     'if (state->owed > 0) {',
     'if (state->owed > TAKT_ROOM_MAX) {'),
    ('a log takes back from another entry', 'core/log.c',
     '|| entry(log, pages, number).at_us != at_us)',
     ')'),
    # bounded
    ('the silent stand in line for ever', 'core/line.c',
     'if (place.expires_at_us < now_us)',
     'if (place.expires_at_us < 0)'),
    ('a ledger never expires', 'core/ledger_calls.c',
     'int64_t at_us = takt_numbers_rest_at(ledger->numbers, &ledger->state);',
     'int64_t at_us = 31536000000000 + takt_numbers_rest_at(ledger->numbers, &ledger->state);'),

    # what all stores do with a call
    ('a record is dropped while it says something', 'store/record.c',
     'if (change->expires_at_us <= now_us) {',
     'if (change->expires_at_us <= now_us + 1000000) {'),
    ('a record whose size stays the same is not written', 'store/record.c',
     'change->size != size || memcmp(change->text, text, size) != 0',
     'change->size != size'),
    ('an award does not tell newer numbers', 'store/run.c',
     'takt_ledger_tell_newer(ledger, call->numbers, call->award);',
     ''),
    ('a settled slot is given back later than it was', 'store/run.c',
     'takt_ledger_settle(ledger, now_us, call->slot_us,',
     'takt_ledger_settle(ledger, now_us, now_us,'),
]


def read_seeds():
    """The seeds that notice mutants: name -> seed."""
    lines = [line.split(maxsplit=1) for line in KNOWN.read_text(encoding='ascii').splitlines()]
    return {name: int(seed) for seed, name in lines}


def write_seeds(seeds):
    lines = [f'{seeds[name]:4} {name}\n' for name, *_ in MUTANTS if seeds.get(name, 0) >= KNOWN_FROM]
    KNOWN.write_text(''.join(lines), encoding='ascii')


def link(program, sources):
    command = [os.environ.get('CC', 'cc'), '-std=c11', '-O1', '-s', '-D_GNU_SOURCE', '-w',
               *(word for folder in ('include', 'lib', 'tests', '.') for word in ('-I', SOURCE / folder)),
               '-o', program, *sources]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else None


def build(scratch, number, mutant, rest):
    """Links the checker with a mutant: a file given by name goes before its like in the library. Returns why not."""
    _, file, old, new = mutant
    text = (SOURCE / 'lib' / file).read_text(encoding='utf-8')
    places = list(re.finditer(r'\s+'.join(re.escape(word) for word in old.split()), text))
    if len(places) != 1:
        return f'lib/{file} has this {len(places)} times, not once:\n{old}'
    mutated = scratch / f'{number}-{pathlib.Path(file).name}'
    mutated.write_text(text[:places[0].start()] + new + text[places[0].end():], encoding='utf-8')
    return link(scratch / str(number), [mutated, *rest])


def try_seeds(program, first, last):
    """The first of these seeds that notices a mutant, and what the checker says; None if none does, or not in time."""
    try:
        done = subprocess.run([program, '--seeds', f'{first}..{last}'], capture_output=True, text=True,
                              timeout=SECONDS, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES)))
    except subprocess.TimeoutExpired:
        return None
    broken = BROKEN.search(done.stdout)
    seed = re.search(r'^seed (\d+)', done.stdout, re.MULTILINE)
    return (int(seed.group(1)), broken.group()) if done.returncode == 1 and broken and seed else None


def try_mutant(scratch, number, mutant, rest, known):
    """Returns the seed that notices it, or None, and what is to be said."""
    trouble = build(scratch, number, mutant, rest)
    if trouble:
        return None, trouble
    program = scratch / str(number)
    found = (known and try_seeds(program, known, known)) or try_seeds(program, 1, SEEDS)
    program.unlink()
    if not found:
        return None, f'{SEEDS} seeds pass, or take more than {SECONDS} s'
    seed, broken = found
    late = '' if seed == known or seed < KNOWN_FROM else f' ({KNOWN.name} does not have this seed)'
    return seed, f'seed {seed}: {broken}{late}'


def main():
    report = tap.Report()
    wanted = [word for word in sys.argv[1:] if word != '--renew']
    seeds = read_seeds()
    mutants = [mutant for mutant in MUTANTS if not wanted or mutant[0] in wanted]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        scratch = pathlib.Path(folder)
        objects = []
        for source in sorted((SOURCE / 'tests' / 'fleet').glob('*.c')):
            objects.append(scratch / f'{source.stem}.o')
            trouble = link(objects[-1], ['-O2', '-c', source])
            if trouble:
                report.check(False, source.name, trouble)
        rest = [*objects, BUILD / 'simulate' / 'libtakt-simulate.a', BUILD / 'lib' / 'libtakt.a']
        trials = [pool.submit(try_mutant, scratch, number, mutant, rest, seeds.get(mutant[0]))
                  for number, mutant in enumerate(mutants)]
        for mutant, trial in zip(mutants, trials):
            seed, said = trial.result()
            report.check(seed is not None, f'noticed: {mutant[0]}', said)
            if seed is not None:
                print(f'# {said}')
                seeds[mutant[0]] = seed
    if '--renew' in sys.argv:
        write_seeds(seeds)
    for name in sorted(set(seeds) - {mutant[0] for mutant in MUTANTS}):
        print(f'# {KNOWN.name} has "{name}", which is no mutant: --renew')
    report.end()


if __name__ == '__main__':
    main()
