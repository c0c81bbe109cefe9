/*
 * families.c: see families.h.
 */
#include "families.h"

void family_run_figures(const family_figure *figures, size_t count)
{
    static const int64_t delays_us[] = {0, 500, 5000};

    for (size_t i = 0; i < sizeof delays_us / sizeof *delays_us; i++)
        for (size_t j = 0; j < count; j++)
            figures[j](delays_us[i], i + 1);
}
