/*
 * rule.c: searches the table of algorithms, and does what they have in common.
 */
#include "rules/rule.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"

#define ROW(name) &takt_##name,
static const takt_algorithm *const algorithms[] = {TAKT_ALGORITHMS(ROW)};

#define COUNT             (sizeof algorithms / sizeof *algorithms)
#define EACH_ALGORITHM(i) for (size_t i = 0; i < COUNT; i++)

const takt_algorithm *takt_algorithm_named(const char *name)
{
    EACH_ALGORITHM(i)
    if (strcmp(algorithms[i]->name, name) == 0)
        return algorithms[i];
    return NULL;
}

const takt_algorithm *takt_algorithm_lettered(char letter)
{
    EACH_ALGORITHM(i)
    if (algorithms[i]->letter == letter)
        return algorithms[i];
    return NULL;
}

const takt_algorithm *takt_algorithm_at(int index)
{
    return index >= 0 && (size_t)index < COUNT ? algorithms[index] : NULL;
}

void takt_unit_map_digits(takt_unit_map map, char text[TAKT_AMOUNTS_MAX + 1])
{
    for (int i = 0; i < TAKT_AMOUNTS_MAX; i++)
        text[i] = (char)('0' + i + map.shift[i]);
    text[TAKT_AMOUNTS_MAX] = '\0';
}

bool takt_unit_map_read(takt_unit_map *map, const char *digits)
{
    *map = TAKT_UNIT_MAP_PLAIN;
    for (int i = 0; i < TAKT_AMOUNTS_MAX; i++) {
        if (digits[i] < '0' || digits[i] >= '0' + TAKT_AMOUNTS_MAX)
            return false;
        map->shift[i] = (int8_t)(digits[i] - '0' - i);
    }
    return true;
}

void takt_unit_map_write(takt_unit_map map, char text[TAKT_AMOUNTS_MAX + 1])
{
    if (takt_unit_map_is_plain(map))
        text[0] = '\0';
    else
        takt_unit_map_digits(map, text);
}

const char *takt_unit_name(takt_unit unit)
{
    static const char *const names[TAKT_UNITS] = {"tokens", "requests", "unit 2", "unit 3",
                                                  "unit 4"};

    return names[unit];
}

void takt_algorithm_list(unsigned takes, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    EACH_ALGORITHM(i)
    {
        size_t left = COUNT - i - 1; /* of the rows after this one: how many take the field, too */
        size_t more = 0;
        if ((algorithms[i]->takes & takes) != takes)
            continue;
        while (left > 0)
            more += (algorithms[COUNT - left--]->takes & takes) == takes;
        snprintf(text + used, size - used, "%s%s", algorithms[i]->name,
                 more > 1    ? ", "
                 : more == 1 ? " or "
                             : "");
        used = strlen(text);
    }
}

/* A number that the algorithm does not use is refused as a misunderstanding. */
static int refuse_strangers(const takt_rule *rule, takt_error *error)
{
    const struct {
        const char *field;
        unsigned bit;
        bool given;
    } fields[] = {
        {"burst", TAKT_TAKES_BURST, rule->burst != 0},
        {"queue", TAKT_TAKES_QUEUE, rule->queue != 0},
        {"align", TAKT_TAKES_ALIGN, rule->align != TAKT_ALIGN_DEFAULT},
        {"timezone", TAKT_TAKES_TIMEZONE, rule->zone != NULL},
    };
    char takers[128];

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (!fields[i].given || rule->algorithm->takes & fields[i].bit)
            continue;
        takt_algorithm_list(fields[i].bit, takers, sizeof takers);
        return takt_fail(error, TAKT_E_POLICY,
                         "%s: %s takes none; remove it, or write algorithm: %s", fields[i].field,
                         rule->algorithm->name, takers);
    }
    return 0;
}

int takt_rule_prepare(takt_rule *rule, takt_error *error)
{
    if (rule->limit < 1 || rule->limit > TAKT_RULE_LIMIT_MAX)
        return takt_fail(error, TAKT_E_POLICY, "rate: %lld tokens; write 1 to %lld",
                         (long long)rule->limit, (long long)TAKT_RULE_LIMIT_MAX);
    if (rule->period_us < 1 || rule->period_us > TAKT_SPAN_MAX_US)
        return takt_fail(error, TAKT_E_POLICY, "rate: a period of %lld us; write 1us to 18250day",
                         (long long)rule->period_us);
    if (rule->guard_us < 0 || rule->guard_us > rule->period_us / 2 ||
        rule->period_us + rule->guard_us > TAKT_SPAN_MAX_US)
        return takt_fail(error, TAKT_E_POLICY,
                         "guard: %lld us; write 0 or a time of at most half of the rate's period",
                         (long long)rule->guard_us);
    if (rule->headroom_bp < 0 || rule->headroom_bp > 9999)
        return takt_fail(error, TAKT_E_POLICY, "headroom: write 0%% to 99.99%%");
    if (refuse_strangers(rule, error) != 0)
        return TAKT_E_POLICY;
    return rule->algorithm->prepare(rule, error);
}

/* The guard of a paced rule is part of its interval. */
bool takt_rule_same(const takt_rule *a, const takt_rule *b)
{
    return a->algorithm->letter == b->algorithm->letter && a->tokens == b->tokens &&
           a->span_us == b->span_us && a->burst == b->burst && a->align == b->align &&
           a->zone == b->zone && a->unit == b->unit &&
           (a->algorithm->paced || a->guard_us == b->guard_us);
}

static void write_unit(takt_unit unit, takt_writer *writer)
{
    if (unit == TAKT_UNIT_REQUESTS)
        takt_write_char(writer, '=');
    if (unit < TAKT_UNIT_MORE)
        return;
    takt_write_char(writer, '&');
    takt_write_int(writer, unit);
    takt_write_char(writer, ':');
}

static takt_unit read_unit(takt_reader *reader)
{
    takt_unit unit;

    if (takt_read_if(reader, '='))
        return TAKT_UNIT_REQUESTS;
    if (!takt_read_if(reader, '&'))
        return TAKT_UNIT_TOKENS;
    unit = (takt_unit)takt_read_int(reader, TAKT_UNIT_MORE, TAKT_UNITS - 1);
    takt_read_char(reader, ':');
    return unit;
}

void takt_rule_write_numbers(const takt_rule *rule, takt_writer *writer)
{
    takt_write_char(writer, rule->algorithm->letter);
    write_unit(rule->unit, writer);
    rule->algorithm->write_rule(rule, writer);
}

void takt_rule_write(const takt_rule *rule, const takt_rule_state *state, takt_writer *writer)
{
    takt_rule_write_numbers(rule, writer);
    takt_write_char(writer, ' ');
    rule->algorithm->write_state(rule, state, writer);
    if (state->owed > 0) {
        takt_write_char(writer, '!');
        takt_write_int(writer, state->owed);
    }
}

void takt_rule_read(takt_rule *rule, takt_rule_state *state, takt_reader *reader)
{
    const takt_algorithm *algorithm =
        reader->at < reader->end ? takt_algorithm_lettered(*reader->at) : NULL;

    if (!algorithm) {
        reader->bad = true;
        return;
    }
    reader->at++;
    *rule = (takt_rule){.algorithm = algorithm};
    rule->unit = read_unit(reader);
    algorithm->read_rule(rule, reader);
    takt_read_char(reader, ' ');
    if (!reader->bad)
        algorithm->read_state(rule, state, reader);
    state->owed = takt_read_if(reader, '!') ? takt_read_int(reader, 1, TAKT_RULE_LIMIT_MAX) : 0;
}

int64_t takt_run_slot(const takt_run *run, int64_t i)
{
    takt_fraction slot = {run->first.us + i * run->step.us, run->first.parts + i * run->step.parts};

    slot.us += slot.parts / run->whole;
    slot.parts %= run->whole;
    return takt_fraction_ceil(slot);
}
