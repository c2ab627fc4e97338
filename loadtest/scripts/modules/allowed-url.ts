type Variables = Readonly<Record<string, string | undefined>>;

/** The hosts that LOAD_ALLOW_HOST names. */
export const hosts = ({ LOAD_ALLOW_HOST = '' }: Variables): string[] =>
  LOAD_ALLOW_HOST.toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);

/**
 * Reads a URL from the environment. A typo must not send load to anyone else: allows only this machine, the shortener's
 * container on it, and the hosts in LOAD_ALLOW_HOST.
 */
export function allowedUrl(variable: string, env: Variables): string | undefined {
  const url = env[variable];
  const allowedHosts = hosts(env);
  if (!url) return undefined;
  const host = /^https?:\/\/([\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?\/?$/i.exec(url)?.[1]?.toLowerCase();
  if (host && (isThisMachine(host) || allowedHosts.includes(host))) return url.replace(/\/$/, '');
  const allowed = ['this machine', ...allowedHosts].join(', ');
  throw new Error(
    `${variable}=${url}: not allowed. Load goes to ${allowed} only. Use a URL such as http://127.0.0.1:8080, or name ` +
      'the hosts of your own stack in LOAD_ALLOW_HOST=expander.example.org,tasks.example.org.',
  );
}

function isThisMachine(host: string): boolean {
  return /^(127\.0\.0\.1|localhost|[\w-]+\.localhost|\[::1\]|shortener)$/.test(host);
}
