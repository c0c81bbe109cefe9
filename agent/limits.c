/*
 * limits.c: the policy of the agent, and limits that programs define. These have a client of their
 * own, so that a policy that is followed in the store stays as it is there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sysexits.h>

#include "agent.h"
#include "kit/exit_status.h"
#include "kit/message.h"
#include "kit/text.h"
#include "reply.h"
#include "words.h"

#define DEFINED_MAX 250 /* limits */
#define COPIES_MAX                                                                                 \
    100000 /* of limits: each change makes a policy, and a client keeps those before */

takt_client *takt_agent_client_of(const takt_agent *agent, const char *limit)
{
    bool is_defined = agent->limits.brought.client &&
                      !takt_policy_has(takt_get_policy(agent->limits.own.client), limit) &&
                      takt_policy_has(agent->limits.brought.policy, limit);

    return is_defined ? agent->limits.brought.client : agent->limits.own.client;
}

const takt_policy *takt_agent_policy_of(const takt_agent *agent, const char *limit)
{
    return takt_get_policy(takt_agent_client_of(agent, limit));
}

static void offer_all(takt_suggestion *meant, const takt_policy *policy)
{
    for (size_t i = 0; policy && i < takt_policy_count(policy); i++)
        takt_suggest_offer(meant, takt_policy_name(policy, i));
}

void takt_agent_refuse_limit(takt_agent_connection *connection, const char *limit)
{
    takt_agent *agent = connection->agent;
    const takt_policy *policy = takt_get_policy(agent->limits.own.client);
    takt_suggestion meant;

    takt_suggest_begin(&meant, limit);
    offer_all(&meant, policy);
    offer_all(&meant, agent->limits.brought.policy);
    if (meant.best)
        takt_agent_reply_error(connection, "NOLIMIT",
                               "the policy has no limit \"%s\"; did you mean \"%s\"?", limit,
                               meant.best);
    else if (takt_policy_count(policy) == 0)
        takt_agent_reply_error(connection, "NOLIMIT",
                               "there is no limit \"%s\": DEFINE it first, or start the agent with "
                               "a --policy that has it",
                               limit);
    else
        takt_agent_reply_error(connection, "NOLIMIT",
                               "the policy has no limit \"%s\"; POLICY lists those it has", limit);
}

/* ---- the policy ------------------------------------------------------------------------------ */

static takt_options options_of(takt_agent *agent)
{
    return (takt_options){.store = agent->options.store ? agent->options.store : NULL,
                          .on_event = agent->callbacks.on_event,
                          .data = agent};
}

/* That of programs which name none, if the policy does not either. */
static const char *name_space_of(const takt_agent *agent)
{
    const char *name = takt_policy_namespace(agent->limits.own.policy);

    return name ? name : "default";
}

/* An agent as the store could be this one: each call would make it call itself, without end. */
static bool is_agent(const takt_agent *agent)
{
    const char *store = agent->options.store;

    store = store ? store : takt_policy_store(agent->limits.own.policy);
    return store && strncmp(store, "agent:", strlen("agent:")) == 0;
}

int takt_agent_limits_open(takt_agent *agent)
{
    const char *path = takt_policy_file(agent->options.policy);
    takt_options options = options_of(agent);
    takt_error error = {0};
    int code, status;

    status = path ? takt_policy_file_load(&agent->limits.own.policy, path, &error)
                  : takt_exit_status(takt_policy_new(&agent->limits.own.policy, &error));
    if (!path && agent->limits.own.policy)
        status = 0;
    if (status) {
        takt_message("%s", error.text);
        return status;
    }
    if (is_agent(agent)) {
        takt_message("the store of an agent is not an agent: name a file or a server with --store, "
                     "$TAKT_STORE or the policy's `store`");
        return EX_USAGE;
    }
    code = takt_open(&agent->limits.own.client, &agent->loop, agent->limits.own.policy, &options,
                     &error);
    if (code) {
        takt_message("%s", error.text[0] ? error.text : takt_strerror(code));
        return takt_exit_status(code);
    }
    code = takt_relays_open(&agent->relays, agent->limits.own.client, name_space_of(agent));
    if (code) {
        takt_message("%s", takt_strerror(code));
        return takt_exit_status(code);
    }
    return 0;
}

void takt_agent_limits_reread(takt_agent *agent)
{
    const char *path = takt_policy_file(agent->options.policy);
    takt_error error = {0};

    if (!path) {
        takt_message("there is no policy file to read again");
    } else if (takt_policy_file_reread(&agent->limits.own.policy, &agent->limits.own.former, path,
                                       NULL, agent->limits.own.client, &error)) {
        agent->limits.changes++;
        takt_message("the policy file was read again and is in use");
    } else {
        takt_message("the policy is unchanged: %s", error.text);
    }
}

static void free_defined(takt_agent_defined *defined)
{
    for (int i = 0; i < defined->count; i++)
        free(defined->words[i]);
    free(defined->words);
    free(defined->name);
}

void takt_agent_limits_free(takt_agent *agent)
{
    for (size_t i = 0; i < agent->limits.definition_count; i++)
        free_defined(&agent->limits.definitions[i]);
    free(agent->limits.definitions);
    takt_former_policies_free(&agent->limits.brought.former);
    takt_policy_free(agent->limits.brought.policy);
    takt_former_policies_free(&agent->limits.own.former);
    takt_policy_free(agent->limits.own.policy);
}

/* ---- DEFINE ---------------------------------------------------------------------------------- */

/* A definition as the texts of a policy. */
typedef struct texts {
    takt_rule_text rules[TAKT_RULES_MAX];
    takt_limit_text limit;
} texts;

/* The fields of a rule, and of the limit, by their places in the structs. */
static const struct field {
    const char *name;
    size_t at;
} rule_fields[] =
    {
        {"BURST", offsetof(takt_rule_text, burst)},
        {"ALGORITHM", offsetof(takt_rule_text, algorithm)},
        {"ALIGN", offsetof(takt_rule_text, align)},
        {"TIMEZONE", offsetof(takt_rule_text, timezone)},
        {"QUEUE", offsetof(takt_rule_text, queue)},
        {"COUNTS", offsetof(takt_rule_text, counts)},
        {"DEFAULT_AMOUNT", offsetof(takt_rule_text, default_amount)},
        {"GUARD", offsetof(takt_rule_text, guard)},
        {NULL, 0},
},
  limit_fields[] = {
      {"CONCURRENCY", offsetof(takt_limit_text, concurrency)},
      {"LEASE", offsetof(takt_limit_text, lease)},
      {"MAX_WAITING", offsetof(takt_limit_text, max_waiting)},
      {"WHEN_FULL", offsetof(takt_limit_text, when_full)},
      {"PRIORITY", offsetof(takt_limit_text, priority)},
      {"ON_STORE_FAILURE", offsetof(takt_limit_text, on_store_failure)},
      {"MODE", offsetof(takt_limit_text, mode)},
      {"FAIR", offsetof(takt_limit_text, fair)},
      {"WEIGHTS", offsetof(takt_limit_text, weights)},
      {"DEFAULT_WEIGHT", offsetof(takt_limit_text, default_weight)},
      {NULL, 0},
};

static bool set_field(const struct field *fields, void *of, const char *name, const char *value)
{
    for (; fields->name; fields++)
        if (strcasecmp(fields->name, name) == 0) {
            memcpy((char *)of + fields->at, &value, sizeof(value));
            return true;
        }
    return false;
}

/* The texts of a definition's words. Returns a name that is none of a field; NULL: all is well. */
static const char *read_texts(const takt_agent_defined *defined, texts *texts)
{
    *texts = (struct texts){.limit = {.name = defined->name, .rules = texts->rules}};
    for (int i = 0; i < defined->count; i += 2) {
        const char *name = defined->words[i],
                   *value = i + 1 < defined->count ? defined->words[i + 1] : NULL;
        unsigned rules = texts->limit.rule_count;
        if (!value)
            return name;
        if (strcasecmp(name, "RATE") == 0 && rules < TAKT_RULES_MAX) {
            texts->rules[texts->limit.rule_count++].rate = value;
            continue;
        }
        if (!(rules > 0 && set_field(rule_fields, &texts->rules[rules - 1], name, value)) &&
            !set_field(limit_fields, &texts->limit, name, value))
            return name;
    }
    return NULL;
}

static bool is_same(const takt_agent_defined *defined, const takt_agent_defined *other)
{
    bool same = defined->count == other->count;

    for (int i = 0; same && i < defined->count; i++)
        same = strcmp(defined->words[i], other->words[i]) == 0;
    return same;
}

static int copy_words(takt_agent_defined *defined, const char *name, const takt_reply *words,
                      int count)
{
    *defined = (takt_agent_defined){.name = strdup(name),
                                    .words = calloc((size_t)count + 1, sizeof(char *))};
    if (!defined->name || !defined->words)
        return TAKT_E_NOMEM;
    for (int i = 0; i < count; i++, defined->count++)
        if (!(defined->words[i] = strdup(words[i].text)))
            return TAKT_E_NOMEM;
    return 0;
}

static int add_to(takt_policy *policy, const takt_agent_defined *defined, takt_error *error)
{
    texts texts;

    read_texts(defined, &texts);
    return takt_policy_add(policy, &texts.limit, error);
}

/* A policy of all that is defined, with `fresh` in the place of one of its name. */
static int make_policy(takt_agent *agent, const takt_agent_defined *fresh, takt_policy **policy,
                       takt_error *error)
{
    int code = takt_policy_new(policy, error);

    if (code != 0)
        return code;
    code = add_to(*policy, fresh, error);
    for (size_t i = 0; code == 0 && i < agent->limits.definition_count; i++)
        if (strcmp(agent->limits.definitions[i].name, fresh->name) != 0)
            code = add_to(*policy, &agent->limits.definitions[i], error);
    if (code != 0)
        takt_policy_free(*policy);
    return code;
}

/* Hands the policy of all definitions to their client. */
static int use_policy(takt_agent *agent, takt_policy *policy, takt_error *error)
{
    takt_options options = options_of(agent);
    takt_former_policies *former = &agent->limits.brought.former;
    takt_policy **all;
    int code;

    if (!agent->limits.brought.client) {
        options.store = options.store ? options.store : takt_policy_store(agent->limits.own.policy);
        options.name_space = takt_policy_namespace(takt_get_policy(agent->limits.own.client));
        code = takt_open(&agent->limits.brought.client, &agent->loop, policy, &options, error);
        agent->limits.brought.policy = code == 0 ? policy : NULL;
        return code;
    }
    all = realloc(former->all, (former->count + 1) * sizeof(*all));
    if (!all)
        return TAKT_E_NOMEM;
    former->all = all;
    code = takt_reload(agent->limits.brought.client, policy, error);
    if (code == 0) {
        former->all[former->count++] = agent->limits.brought.policy;
        agent->limits.brought.policy = policy;
    }
    return code;
}

static int keep(takt_agent *agent, const takt_agent_defined *fresh)
{
    takt_agent_defined *all;

    for (size_t i = 0; i < agent->limits.definition_count; i++)
        if (strcmp(agent->limits.definitions[i].name, fresh->name) == 0) {
            free_defined(&agent->limits.definitions[i]);
            agent->limits.definitions[i] = *fresh;
            return 0;
        }
    all = realloc(agent->limits.definitions, (agent->limits.definition_count + 1) * sizeof(*all));
    if (!all)
        return TAKT_E_NOMEM;
    agent->limits.definitions = all;
    agent->limits.definitions[agent->limits.definition_count++] = *fresh;
    return 0;
}

static const takt_agent_defined *find_defined(const takt_agent *agent, const char *name)
{
    for (size_t i = 0; i < agent->limits.definition_count; i++)
        if (strcmp(agent->limits.definitions[i].name, name) == 0)
            return &agent->limits.definitions[i];
    return NULL;
}

/* 0, or a code and why. */
static int define(takt_agent *agent, takt_agent_defined *fresh, takt_error *error)
{
    const takt_agent_defined *known = find_defined(agent, fresh->name);
    takt_policy *policy;
    texts texts;
    int code;
    const char *wrong = read_texts(fresh, &texts);

    *error = (takt_error){0};
    if (wrong && strcasecmp(wrong, "WITHIN") == 0) {
        strcpy(error->text, "WITHIN: a limit within another one belongs in the agent's policy");
        return TAKT_E_INVALID;
    }
    if (wrong) {
        snprintf(
            error->text, sizeof(error->text),
            "%.40s: unknown field, or a field without a value: write NAME VALUE, and the fields of "
            "a rule after its RATE (docs/agent.md)",
            wrong);
        return TAKT_E_INVALID;
    }
    if (!known && agent->limits.definition_count == DEFINED_MAX) {
        snprintf(error->text, sizeof(error->text),
                 "an agent takes %d limits from programs; put them into its policy", DEFINED_MAX);
        return TAKT_E_INVALID;
    }
    if (agent->limits.copies + agent->limits.definition_count >= COPIES_MAX) {
        snprintf(error->text, sizeof(error->text),
                 "limits were defined anew too often: put them into the agent's policy, which can "
                 "be read again, or start the agent again");
        return TAKT_E_INVALID;
    }
    code = make_policy(agent, fresh, &policy, error);
    if (code != 0)
        return code;
    code = use_policy(agent, policy, error);
    if (code != 0) {
        takt_policy_free(policy);
        return code;
    }
    agent->limits.changes++;
    agent->limits.copies += takt_policy_count(policy);
    return keep(agent, fresh);
}

void takt_agent_define(takt_agent_connection *connection, const takt_reply *first, int count)
{
    takt_agent *agent = connection->agent;
    takt_agent_words words;
    takt_agent_defined fresh;
    const takt_agent_defined *known;
    takt_error error = {0};
    const char *name;
    char description[256];
    int code;

    takt_agent_words_begin(&words, connection, first, count);
    name = takt_agent_words_text(&words, "the limit's name", TAKT_NAME_SIZE_MAX);
    if (words.wrong)
        return;
    if (takt_policy_has(takt_get_policy(agent->limits.own.client), name)) {
        takt_policy_describe(takt_get_policy(agent->limits.own.client), name, description,
                             sizeof(description));
        takt_agent_reply_error(connection, "ERR",
                               "%s is a limit of the agent's policy: %s; leave out DEFINE", name,
                               description);
        return;
    }
    code = copy_words(&fresh, name, first + 2, count - 2);
    known = find_defined(agent, name);
    if (code == 0 && known && is_same(known, &fresh)) {
        free_defined(&fresh);
        takt_agent_reply_status(connection, "OK");
        return;
    }
    if (code == 0)
        code = define(agent, &fresh, &error);
    if (code == 0) {
        takt_agent_reply_status(connection, "OK");
        return;
    }
    free_defined(&fresh);
    takt_agent_reply_error(connection, code == TAKT_E_POLICY ? "ERR" : takt_agent_code(code), "%s",
                           error.text[0] ? error.text : takt_strerror(code));
}

/* ---- POLICY ---------------------------------------------------------------------------------- */

static void describe_all(takt_agent_connection *connection, const takt_policy *policy)
{
    char text[512];

    for (size_t i = 0; i < takt_policy_count(policy); i++) {
        const char *name = takt_policy_name(policy, i);
        takt_policy_describe(policy, name, text, sizeof(text));
        takt_agent_reply_string(connection, name);
        takt_agent_reply_string(connection, text);
    }
}

void takt_agent_tell_policy(takt_agent_connection *connection, const takt_reply *words, int count)
{
    takt_agent *agent = connection->agent;
    const takt_policy *policy = takt_get_policy(agent->limits.own.client);
    size_t size = 0, defined = agent->limits.brought.policy
                                   ? takt_policy_count(agent->limits.brought.policy)
                                   : 0;
    const char *text = takt_policy_text(policy, &size);

    (void)words, (void)count;
    takt_agent_reply_map(connection, 5);
    takt_agent_reply_string(connection, "version");
    takt_agent_reply_integer(connection, takt_policy_version(policy));
    takt_agent_reply_string(connection, "revision");
    takt_agent_reply_integer(connection, takt_policy_revision(policy));
    takt_agent_reply_string(connection, "namespace");
    takt_agent_reply_string(connection, takt_policy_namespace(policy));
    takt_agent_reply_string(connection, "text");
    if (text)
        takt_agent_reply_text(connection, text, size);
    else
        takt_agent_reply_nil(connection);
    takt_agent_reply_string(connection, "limits");
    takt_agent_reply_map(connection, takt_policy_count(policy) + defined);
    describe_all(connection, policy);
    if (defined > 0)
        describe_all(connection, agent->limits.brought.policy);
}
