import type { Service } from './service.ts';

/** Adds a task as a browser without JavaScript does, by the form of `page`, or of the list where none is given. */
export async function addByForm(service: Service, title: string, page?: Response): Promise<Response> {
  const form = page ?? (await fetch(service.url));
  const token = (await form.text()).match(/name="_csrf" value="([^"]+)"/)?.[1] ?? '';
  return fetch(`${service.url}task`, {
    method: 'POST',
    redirect: 'manual',
    headers: { Cookie: form.headers.get('set-cookie')?.split(';')[0] ?? '' },
    body: new URLSearchParams({ title, _csrf: token }),
  });
}
