/** The load of each script in the profile `full`: rates are per second, times in seconds. */
const full = {
  smoke: { users: 2, iterations: 20 },
  keepalive: {
    rate: 200,
    // Requests in a row on one connection. When a connection pauses for more than 40 ms between a response and the
    // next request, Linux acknowledges at once (it leaves "pingpong" mode), which would hide the delay we look for.
    burst: 4,
    seconds: 40,
    users: 20,
    // Milliseconds, the share of responses that were delayed, and dropped iterations.
    limits: { median: 10, p99: 20, p999: 35, delayed: 0.001, dropped: 0 },
  },
  expander: { rate: 300, seconds: 60, hotLinks: 100 },
  tasks: { reads: 200, writes: 20, seconds: 60, listed: 10_000 },
  spike: { base: 50, peak: 1_000, ramp: 10, hold: 15, after: 20 },
  soak: { rate: 50, seconds: 30 * 60 },
  restart: { rate: 100, seconds: 60 },
};

export type Profile = typeof full;

/**
 * The load profiles: the thresholds are meant for `full`; `short` is for CI and for trying a script. LOAD_PROFILE
 * selects one, and SOAK_SECONDS sets the duration of the soak in either.
 */
export const profiles: Record<string, Profile> = {
  full,
  short: {
    smoke: { users: 2, iterations: 2 },
    keepalive: {
      ...full.keepalive,
      rate: 100,
      seconds: 3,
      // Wide enough for a busy machine, and still far from the effect of a delay on every response.
      limits: { median: 35, p99: 1_000, p999: 2_000, delayed: 0.25, dropped: 40 },
    },
    expander: { rate: 100, seconds: 5, hotLinks: 20 },
    tasks: { reads: 50, writes: 10, seconds: 5, listed: 1_000 },
    spike: { base: 20, peak: 200, ramp: 3, hold: 3, after: 8 },
    soak: { rate: 20, seconds: 30 },
    restart: { rate: 50, seconds: 8 },
  },
};
