/** What must hold for steady requests: milliseconds, the share delayed by an acknowledgement, requests never sent. */
interface Latencies {
  median: number;
  p99: number;
  p999: number;
  delayed: number;
  dropped: number;
}

/** What one kind of load is, script by script: rates are a second, times in seconds. */
export interface Profile {
  smoke: { users: number; iterations: number };
  keepalive: { rate: number; together: number; seconds: number; users: number; limits: Latencies };
  expander: { rate: number; seconds: number; hotLinks: number };
  tasks: { reads: number; writes: number; seconds: number; listed: number };
  spike: { base: number; peak: number; ramp: number; hold: number; after: number };
  soak: { rate: number; seconds: number };
  restart: { rate: number; seconds: number };
}

/**
 * The named load profiles: `full` is what the thresholds are meant for, `short` is for CI and for trying a
 * script out. LOAD_PROFILE chooses, SOAK_SECONDS lengthens or shortens the soak of either.
 */
export const profiles = {
  full: {
    smoke: { users: 2, iterations: 20 },
    keepalive: {
      rate: 200,
      // Requests one after the other on one connection. A connection that pauses longer than 40 ms between an
      // answer and its next request is acknowledged at once (Linux's "pingpong" mode is left), and would hide
      // the very delay that is looked for.
      together: 4,
      seconds: 40,
      users: 20,
      limits: { median: 10, p99: 20, p999: 35, delayed: 0.001, dropped: 0 },
    },
    expander: { rate: 300, seconds: 60, hotLinks: 100 },
    tasks: { reads: 200, writes: 20, seconds: 60, listed: 10_000 },
    spike: { base: 50, peak: 1_000, ramp: 10, hold: 15, after: 20 },
    soak: { rate: 50, seconds: 30 * 60 },
    restart: { rate: 100, seconds: 60 },
  },
  short: {
    smoke: { users: 2, iterations: 2 },
    keepalive: {
      rate: 100,
      together: 4,
      seconds: 3,
      users: 20,
      // On a machine that does other work as well: wide of it, and still far from what a delay does to all answers.
      limits: { median: 35, p99: 1_000, p999: 2_000, delayed: 0.25, dropped: 40 },
    },
    expander: { rate: 100, seconds: 5, hotLinks: 20 },
    tasks: { reads: 50, writes: 10, seconds: 5, listed: 1_000 },
    spike: { base: 20, peak: 200, ramp: 3, hold: 3, after: 8 },
    soak: { rate: 20, seconds: 30 },
    restart: { rate: 50, seconds: 8 },
  },
} satisfies Record<string, Profile>;
