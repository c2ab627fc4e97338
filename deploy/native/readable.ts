/**
 * One line of a part's log, for people: a JSON line as its message and what belongs to it, a line of
 * Redis or nginx without its time and process number, any other as it is.
 */
export function readable(line: string): string {
  const record = parsed(line);
  if (record === undefined) {
    return line
      .replace(/^\d+:\S+ (?:\(\d+\)|\d+ \w+ \d+ [\d:.]+ [.\-*#]) /, '')
      .replace(/^[\d/]+ [\d:]+ \[(\w+)\] \d+#\d+: /, '$1: ');
  }
  const { level, time, service, msg, pid, hostname, method, path, status, requestId, err, ...rest } = record;
  const text = msg === 'request' ? `${method} ${path} ${status}` : `${msg}`;
  const prefix = level === 'info' ? '' : `${level}: `;
  const message = parsedError(err);
  const details = Object.entries(rest).map(([name, value]) => `${name}=${shown(value)}`);
  return [prefix + text, ...details, ...(message ? [`(${message})`] : [])].join(' ');
}

/** The fields of a JSON log line; undefined when `line` is none. */
function parsed(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const parsedError = (err: unknown) => (err as { message?: string } | undefined)?.message;

const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
