/**
 * The settings of each script in the profile `full`. Rates are per second, durations in seconds, limits of latencies in
 * milliseconds. Each is also a variable: `hotLinks` is LOAD_HOT_LINKS.
 */
const full = {
  smoke: { users: 2, iterations: 20 },
  keepalive: {
    rate: 200,
    // Requests in a row on one connection. After a pause of more than 40 ms between a response and the next request,
    // Linux acknowledges at once (it leaves "pingpong" mode), which would hide the delay that we look for.
    burst: 4,
    duration: 40,
    users: 20,
    p50: 10,
    p99: 20,
    p999: 35,
    // The share of responses that took as long as a delayed acknowledgement.
    delayed: 0.001,
    // The share of requests that opened a new connection.
    reopened: 0,
    dropped: 0,
  },
  expander: {
    rate: 300,
    duration: 60,
    users: 100,
    hotLinks: 100,
    hitP95: 15,
    missP95: 250,
    failed: 0.001,
    dropped: 0,
  },
  tasks: {
    readRate: 200,
    writeRate: 20,
    duration: 60,
    users: 50,
    listed: 10_000,
    readP95: 25,
    writeP95: 40,
    failed: 0.001,
    dropped: 0,
  },
  spike: { rate: 50, peakRate: 1_000, ramp: 10, hold: 15, after: 20, users: 500, recoveredP95: 50 },
  soak: { rate: 50, duration: 30 * 60, users: 50, growth: 10 },
  breakpoint: {
    rate: 200,
    peakRate: 10_000,
    duration: 5 * 60,
    users: 500,
    // The share of each kind of request.
    hot: 0.6,
    cold: 0.1,
    list: 0.25,
    writes: 0.05,
    p99: 20,
    failed: 0.001,
  },
};

export type Profile = typeof full;

/** The load profiles. The limits suit `full`; `short` is for CI and for trying a script. */
export const profiles: Record<string, Profile> = {
  full,
  short: {
    smoke: { users: 2, iterations: 2 },
    keepalive: {
      ...full.keepalive,
      rate: 100,
      duration: 3,
      // Wide enough for a busy machine; a delay of every response still crosses them.
      p50: 1_000,
      p99: 1_000,
      p999: 2_000,
      delayed: 0.4,
      reopened: 0.02,
      dropped: 40,
    },
    expander: {
      ...full.expander,
      rate: 100,
      duration: 5,
      hotLinks: 20,
      hitP95: 1_000,
      missP95: 1_000,
      dropped: 100,
    },
    tasks: {
      ...full.tasks,
      readRate: 50,
      writeRate: 10,
      duration: 5,
      listed: 1_000,
      readP95: 1_000,
      writeP95: 1_000,
      dropped: 100,
    },
    spike: { ...full.spike, rate: 20, peakRate: 200, ramp: 3, hold: 3, after: 8 },
    soak: { ...full.soak, rate: 20, duration: 30 },
    breakpoint: { ...full.breakpoint, rate: 20, peakRate: 2_000, duration: 20 },
  },
};
