import type { Service } from './service.ts';
import type { Writes } from './storm.ts';

/** The JSON interface of whatever `service()` is just now. */
export function overHttp(service: () => Service): Writes {
  const send = async <Answer>(method: string, path: string, body: object = {}): Promise<Answer> => {
    const response = await fetch(`${service().url}tasks${path}`, {
      method,
      headers: { Accept: 'application/json', 'Content-Type': 'application/json', 'If-Match': '*' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${response.status}`);
    return (await response.json()) as Answer;
  };
  const removals = new Map<string, string>();
  return {
    create: (written) => send('POST', '', written),
    update: (id, change) => send('PUT', `/${id}`, change),
    async destroy(id, name) {
      removals.set(name, (await send<{ removal: string }>('DELETE', `/${id}`)).removal);
    },
    restore: (name) => send('POST', '/restore', { removal: removals.get(name) }),
  };
}
