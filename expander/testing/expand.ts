import http from 'node:http';

/**
 * Asks the expander at `api` for the expansion of `url`.
 *
 * @param client its address.
 * @returns the status; 0 if there is none, or if `signal` was aborted before.
 */
export function expand(
  api: string,
  url: string,
  client: string,
  { follow = '', signal }: { follow?: string; signal?: AbortSignal } = {},
): Promise<number> {
  const headers = { 'X-Forwarded-For': client };
  return new Promise((resolve) =>
    http
      .get(`${api}api?u=${encodeURIComponent(url)}&follow=${follow}`, { headers, signal }, (response) => {
        response.resume().on('close', () => resolve(response.statusCode ?? 0));
      })
      .on('error', () => resolve(0)),
  );
}
