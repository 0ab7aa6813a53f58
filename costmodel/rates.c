/* SPDX-License-Identifier: Apache-2.0 */
/* From what an inventory says of a device to the rates that the cost model works with. */
#include "costmodel/cost.h"

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* The largest uncertainty that applies to one figure. */
double yoke_quantity_uncertainty(const yoke_quantity_t *quantity,
                                 const yoke_constants_t *constants)
{
    double value = constants->uncertainty_default;
    switch (quantity->source) {
    case YOKE_SOURCE_UNKNOWN:
        break;
    case YOKE_SOURCE_MEASURED:
        value = constants->uncertainty_measured;
        break;
    case YOKE_SOURCE_RUNTIME:
    case YOKE_SOURCE_SYSFS:
    case YOKE_SOURCE_IMPORTED:
        value = constants->uncertainty_runtime;
        break;
    case YOKE_SOURCE_CATALOG:
        value = constants->uncertainty_catalog;
        break;
    case YOKE_SOURCE_USER:
        value = constants->uncertainty_user;
        break;
    }
    if (quantity->marks & YOKE_MARK_NOT_REREAD)
        value = larger(value, constants->uncertainty_not_reread);
    if (quantity->marks & YOKE_MARK_DISPUTED)
        value = larger(value, constants->uncertainty_disputed);
    if (quantity->marks & (YOKE_MARK_DEFAULT | YOKE_MARK_LOWER_BOUND))
        value = larger(value, constants->uncertainty_default);
    return value;
}

/* What large work reaches: a measured rate as it is, else a fraction of the peak. */
static double achieved(const yoke_quantity_t *rate, const yoke_quantity_t *fraction,
                       double default_fraction)
{
    if (rate->source == YOKE_SOURCE_MEASURED)
        return rate->value;
    return rate->value * (yoke_known(fraction) ? fraction->value : default_fraction);
}

static double rate_uncertainty(const yoke_quantity_t *rate,
                               const yoke_quantity_t *fraction,
                               const yoke_constants_t *constants)
{
    double value = yoke_quantity_uncertainty(rate, constants);
    if (rate->source == YOKE_SOURCE_MEASURED)
        return value;
    return larger(value, yoke_quantity_uncertainty(fraction, constants));
}

static void set_link(const yoke_inventory_device_t *device,
                     const yoke_constants_t *constants, yoke_rates_t *rates)
{
    const yoke_quantity_t *link = &device->link_rate;
    rates->link_latency = constants->link_latency;
    rates->link_beyond = constants->default_intra_rate;
    if (!yoke_known(link) || link->value <= 0) {
        rates->link = constants->default_intra_rate;
        rates->link_uncertainty = constants->uncertainty_default;
        return;
    }
    rates->link = achieved(link, &(yoke_quantity_t){0}, constants->link_fraction);
    rates->link_mesh = device->link_mesh;
    rates->link_group = device->link_group;
    rates->link_uncertainty = yoke_quantity_uncertainty(link, constants);
}

bool yoke_rates_from_device(const yoke_inventory_device_t *device, yoke_dtype_t dtype,
                            const yoke_constants_t *constants, yoke_rates_t *out_rates,
                            bool *out_supported, const char **out_missing)
{
    static const char *const names[YOKE_DTYPE_COUNT] = {"fp64", "fp32", "tf32", "fp16",
                                                        "bf16", "fp8",  "int8"};
    const yoke_quantity_t *compute = &device->compute[dtype];
    if (!yoke_known(compute)) {
        *out_missing = names[dtype];
        return false;
    }
    *out_supported = compute->value > 0;
    if (!*out_supported) /* nothing else about it matters */
        return true;
    if (!yoke_known(&device->bandwidth) || device->bandwidth.value <= 0) {
        *out_missing = "hbm";
        return false;
    }
    yoke_rates_t rates = {.host = device->kind == YOKE_DEVICE_CPU};
    rates.compute =
        achieved(compute, &device->achieved[dtype], constants->compute_fraction);
    if (compute->source != YOKE_SOURCE_MEASURED)
        rates.compute *= constants->gemm_fraction;
    rates.bandwidth = achieved(&device->bandwidth, &device->bandwidth_achieved,
                               constants->bandwidth_fraction);
    rates.uncertainty = larger(
        rate_uncertainty(compute, &device->achieved[dtype], constants),
        rate_uncertainty(&device->bandwidth, &device->bandwidth_achieved, constants));
    set_link(device, constants, &rates);
    *out_rates = rates;
    return true;
}

static double share(const yoke_rates_t *rates, unsigned ranks)
{
    if (!rates->link_mesh || rates->link_peers < 2 || ranks >= rates->link_peers)
        return rates->link;
    return rates->link * ((double)ranks - 1) / ((double)rates->link_peers - 1);
}

double yoke_rates_group_bandwidth(const yoke_rates_t *rates, unsigned ranks)
{
    if (rates->link_group != 0 && ranks > rates->link_group)
        return rates->link_beyond;
    return share(rates, ranks);
}

double yoke_rates_spread_bandwidth(const yoke_rates_t *rates, unsigned ranks)
{
    if (rates->link_group != 0 && rates->link_peers > rates->link_group)
        return rates->link_beyond;
    return share(rates, ranks);
}

double yoke_rates_pair_bandwidth(const yoke_rates_t *rates)
{
    return yoke_rates_spread_bandwidth(rates, 2);
}
