/*
 * error.c: the codes of takt/error.h as names and as sentences, one row for each code. Other files
 * decide which code a failure has.
 */
#include <takt/error.h>

#include <stddef.h>

static const struct {
    int code;
    const char *name;
    const char *sentence;
} errors[] = {
    {TAKT_OK, "OK", "all is well"},
    {TAKT_E_INVALID, "INVALID", "an argument is not what the function asks for"},
    {TAKT_E_NOMEM, "NOMEM", "no memory"},
    {TAKT_E_NO_LIMIT, "NO_LIMIT", "the policy has no limit of that name"},
    {TAKT_E_COST, "COST", "the cost is more than a rule of the limit can ever give"},
    {TAKT_E_NO_SLOT, "NO_SLOT", "no slot is due now"},
    {TAKT_E_DEADLINE, "DEADLINE", "no slot is due within the time allowed for waiting"},
    {TAKT_E_FULL, "FULL", "more would wait than the limit allows"},
    {TAKT_E_CANCELED, "CANCELED", "the wait was cancelled"},
    {TAKT_E_BUSY, "BUSY", "the permit or call is in use, or too many calls are under way"},
    {TAKT_E_POLICY, "POLICY", "the policy cannot be accepted"},
    {TAKT_E_STORE, "STORE", "the store cannot be reached, or failed"},
    {TAKT_E_STORE_TIMEOUT, "STORE_TIMEOUT", "the store did not answer in time"},
    {TAKT_E_STORE_URL, "STORE_URL", "this is not a store's URL"},
    {TAKT_E_STORE_ACCESS, "STORE_ACCESS", "the store refuses access"},
    {TAKT_E_STORE_SPACE, "STORE_SPACE",
     "the store is full: make room on its disk, or in its server's memory"},
    {TAKT_E_STORE_FORMAT, "STORE_FORMAT",
     "the store was written by another format version, or not by takt"},
    {TAKT_E_SYSTEM, "SYSTEM", "the system refused a thread, a timer or a descriptor"},
    {TAKT_E_LEASE, "LEASE",
     "the process was held up for longer than a lease: what it held is lost"},
    {TAKT_E_OVERTAKEN, "OVERTAKEN", "somebody else has changed the stored policy meanwhile"},
    {TAKT_E_FORKED, "FORKED",
     "the client belongs to the parent process; open another one after fork"},
};

const char *takt_strerror(int code)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].code == code)
            return errors[i].sentence;
    return "unknown error";
}

const char *takt_error_name(int code)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].code == code)
            return errors[i].name;
    return "UNKNOWN";
}
