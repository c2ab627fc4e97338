import { writeSync } from 'node:fs';
import { type Logger, pino } from 'pino';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'> & {
  /** Writes what `info` writes of a request, in a third of the time: `info` makes JSON of each name anew. */
  request?: (about: AboutRequest) => void;
};

/** What is written of a request. */
export interface AboutRequest {
  /** A method that Node knows: letters and hyphens. */
  method: string;
  path: string;
  status: number;
  ms: number;
  requestId?: string | string[] | undefined;
  client?: string | string[] | undefined;
  /** The code of the error that was answered. */
  error?: string | undefined;
  /** Whether the answer ended before its last piece. */
  brokenOff?: boolean | undefined;
}

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** Characters of lines that are written at once: a system call for each would cost more than the answer it tells of. */
const enough = 4_096;
/** Milliseconds that a line waits for others at the most. */
const longest = 100;
/** Characters that are kept for a reader who is full; lines beyond are lost, and the service is not. */
const most = 16 * 1024 * 1024;
/** Milliseconds that an exit waits for a reader who is full. */
const exitPatience = 2_000;

/**
 * A log of JSON lines on standard output, each with an ISO 8601 time, the level by name and the service.
 * What is not written yet is when the process exits, whether by itself or by an error. A reader that goes
 * away ends the log and not the service.
 */
export function createLog(service: string, level: (typeof logLevels)[number]): Logger & Log {
  const time = isoTime();
  const output = together(1);
  const log = pino(
    {
      level,
      base: { service },
      timestamp: time,
      formatters: { level: (label) => ({ level: label }) },
    },
    output,
  );
  const origin = `,"service":${JSON.stringify(service)}`;
  const request = (about: AboutRequest) => {
    if (log.isLevelEnabled('info')) output.write(`{"level":"info"${time()}${origin}${told(about)}}\n`);
  };
  return Object.assign(log, { request });
}

function told({ method, path, status, ms, requestId, client, error, brokenOff }: AboutRequest): string {
  const by = requestId === undefined ? '' : `,"requestId":${JSON.stringify(requestId)}`;
  const from = client === undefined ? '' : `,"client":${JSON.stringify(client)}`;
  const why = error === undefined ? '' : `,"error":${JSON.stringify(error)}`;
  const broken = brokenOff === undefined ? '' : `,"brokenOff":${brokenOff}`;
  const asked = `,"method":"${method}","path":${JSON.stringify(path)}`;
  return `${asked},"status":${status},"ms":${ms}${by}${from}${why}${broken},"msg":"request"`;
}

/**
 * Lines written together to the file descriptor `fd`. pino's own destination does as much, but never returns
 * from its last write when the reader has gone.
 */
function together(fd: number) {
  let lines = '';
  let unwritten = Buffer.alloc(0);
  let timer: NodeJS.Timeout | undefined;
  let gone = false;

  /** Writes what the reader takes now. A reader that is full gets the rest later; one that has gone, nothing. */
  const flushSync = () => {
    clearTimeout(timer);
    timer = undefined;
    unwritten = Buffer.concat([unwritten, Buffer.from(lines)]);
    lines = '';
    try {
      while (unwritten.length > 0) unwritten = unwritten.subarray(writeSync(fd, unwritten));
    } catch (error) {
      gone = (error as NodeJS.ErrnoException).code !== 'EAGAIN';
      if (gone) unwritten = Buffer.alloc(0);
      else timer = setTimeout(flushSync, longest);
    }
  };
  process.once('exit', () => {
    const moment = new Int32Array(new SharedArrayBuffer(4));
    flushSync();
    for (let patience = exitPatience; unwritten.length > 0 && patience > 0; patience -= 10) {
      Atomics.wait(moment, 0, 0, 10);
      flushSync();
    }
  });
  return {
    write(line: string) {
      if (gone || lines.length > most) return;
      lines += line;
      if (lines.length >= enough && unwritten.length === 0) flushSync();
      else timer ??= setTimeout(flushSync, longest);
    },
    flushSync,
  };
}

/** The time as pino writes it into a line. Hundreds of lines share a millisecond under load, and its text. */
function isoTime(): () => string {
  let last = 0;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== last) {
      last = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}
