/*
 * families.h: kinds of fleets, beside those of scenario.h, that draw their course from a seed.
 *
 * A broken promise is reported to checker_on_failure.
 */
#ifndef TAKT_TESTS_FLEET_FAMILIES_H
#define TAKT_TESTS_FLEET_FAMILIES_H

#include <stddef.h>
#include <stdint.h>

typedef struct family {
    int each, at; /* of so many seeds one has such a fleet, too: that with this remainder */
    void (*run)(uint64_t seed);
    void (*run_figures)(void); /* fleets that docs/design.md has figures of; NULL: none */
} family;

extern const family hosts_family, tenants_family, nested_family, held_family, bounded_family,
    units_family, nested_units_family, nested_tenants_family, modes_family, nested_tries_family;

/* A fleet with figures, with trips of that time. */
typedef void (*family_figure)(int64_t delay_us, uint64_t seed);

/* Runs each with trips of 0, 0.5 and 5 ms. */
void family_run_figures(const family_figure *figures, size_t count);

#endif
