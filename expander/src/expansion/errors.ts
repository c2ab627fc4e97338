/** All that depends on the code of an error alone. */
interface ErrorKind {
  /** The HTTP status of a response that reports it. */
  status: number;
  /** The heading of the page. */
  title: string;
  /** What the user can do about it. */
  advice?: string;
  /** Seconds for which caches may keep it; 0 if it says nothing about the URL. */
  lifetime: number;
  /** Seconds after which another try may succeed. */
  retryAfter?: number;
}

const errorKinds = {
  invalid_url: { status: 400, title: 'This is not a URL', lifetime: 30 },
  invalid_callback: { status: 400, title: 'This could not be expanded', lifetime: 30 },
  unsupported_scheme: { status: 400, title: 'This is not a web address', lifetime: 30 },
  target_refused: {
    status: 403,
    title: 'This address is not followed',
    advice: 'Only public websites are followed.',
    lifetime: 30,
  },
  request_failed: {
    status: 502,
    title: 'The link does not work',
    advice: 'The link may be outdated, or the website may be down.',
    lifetime: 30,
  },
  timeout: {
    status: 504,
    title: 'No answer in time',
    advice: 'The website may be busy. Trying again may help.',
    lifetime: 10,
  },
  overloaded: {
    status: 503,
    title: 'The server is busy',
    advice: 'Try again in a few seconds.',
    lifetime: 0,
    retryAfter: 1,
  },
  rate_limited: { status: 429, title: 'Too many links at once', lifetime: 0 },
  /** Only the log shows it: the client has left. */
  aborted: { status: 499, title: 'Stopped', lifetime: 0 },
} satisfies Record<string, ErrorKind>;

/** Why an expansion failed: stable, for programs. */
export type ErrorCode = keyof typeof errorKinds;

export const errorKind = (code: ErrorCode): ErrorKind => errorKinds[code];

/** The codes that a response can have. */
export const errorCodes = (Object.keys(errorKinds) as ErrorCode[]).filter((code) => code !== 'aborted');

/** A failure with a stable code and one plain ASCII sentence for the user. */
export class ExpansionError extends Error {
  readonly code: ErrorCode;
  /** Only with `rate_limited`. */
  readonly rate: RateState | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorOptions & { rate?: RateState } = {}) {
    super(message, options);
    this.code = code;
    this.rate = options.rate;
  }
}

/** What a client may have: `count` expansions in `period` seconds, the next one in `wait` seconds. */
export interface RateState {
  count: number;
  period: number;
  wait: number;
}

/** What is said of a name that has no address. */
export const noSuchWebsite = (hostname: string) => `There is no website named ${hostname}.`;

/** @throws `error` unless it is an ExpansionError: anything else is a bug. */
export function expansionError(error: unknown): ExpansionError {
  if (error instanceof ExpansionError) return error;
  throw error;
}

/** The error for work that was cancelled: the signal's reason if that is an ExpansionError. */
export function aborted(reason: unknown): ExpansionError {
  if (reason instanceof ExpansionError) return reason;
  return new ExpansionError('aborted', 'The client has left.', { cause: reason });
}

/** The error for work beyond a limit. */
export function overloaded(what: string): ExpansionError {
  return new ExpansionError('overloaded', `${what}; try again soon.`);
}
