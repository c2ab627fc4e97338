import { createTurns } from '@longhand/shared/turns.ts';
import { beforeEach, expect } from 'vitest';
import { createApp } from '../src/app.ts';
import type { Changes, TaskStore } from '../src/task/task.ts';
import type { Auth } from '../src/web/auth.ts';
import { cookies } from '../src/web/cookies.ts';
import { csrf } from '../src/web/csrf.ts';
import type { Dependencies } from '../src/web/dependencies.ts';
import { securityHeaders } from '../src/web/responses.ts';
import { publicFiles } from '../src/web/static-files.ts';
import { views } from '../src/web/views.ts';
import { silent, useStore } from './store.ts';

const root = `${import.meta.dirname}/..`;

const files = publicFiles(`${root}/public`);
const render = views(`${root}/views`, files);

const noChanges: Changes = { subscribe: () => () => {} };

export const testKey = async () => Buffer.alloc(32, 7);

/** The ID of the store with this key, at the end of the names of cookies. */
export const storeId = '963eb692';

/**
 * Creates the application with `store`, a fixed CSRF key and the `given` dependencies. The test fails if a response lacks the
 * security headers, or if the response to a write is cacheable.
 */
export function testApp(store: TaskStore, given: Partial<Dependencies> = {}) {
  const app = createApp({
    store,
    changes: noChanges,
    signal: new AbortController().signal,
    csrf: csrf(testKey),
    cookies: cookies(testKey),
    render,
    files,
    now: () => new Date(),
    log: silent,
    turns: createTurns(),
    ...given,
  });
  const { request } = app;
  app.request = async (path, sent, ...rest) => {
    const response = await request(path, sent, ...rest);
    for (const [name, value] of Object.entries(securityHeaders))
      expect(response.headers.get(name)).toBe(value);
    const isRead = /^(GET|HEAD)$/.test(sent?.method ?? 'GET');
    if (!isRead && response.status !== 499)
      expect(response.headers.get('cache-control')).toBe('no-store, no-cache');
    return response;
  };
  return app;
}

type TestApp = ReturnType<typeof testApp>;

/** Creates an application with its own store for all tests of a file. Empties the store and resets the clock before each test. */
export function useApp(authAt?: (now: () => Date) => Auth) {
  const kept = useStore() as ReturnType<typeof useStore> & { app: TestApp; now: Date };
  beforeEach(() => {
    kept.now = new Date('2026-01-02T03:04:05.678Z');
    const now = () => kept.now;
    kept.app = testApp(kept.store, { now, auth: authAt?.(now) });
  });
  return kept;
}

/** A browser's session cookie, and the hidden fields of the last form. */
export interface Visitor {
  cookie: string;
  token: string;
  nonce: string;
}

/** Opens a page to get its cookie and form, like a browser. */
export async function visit(
  app: TestApp,
  headers: Record<string, string> = {},
  path = '/',
): Promise<Visitor> {
  const response = await app.request(path, { headers });
  const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? headers.Cookie ?? '';
  return { cookie, ...formFields(await response.text()) };
}

/** The hidden fields of the first form in `html`. */
export function formFields(html: string): { token: string; nonce: string } {
  const value = (name: string) => html.match(`name="${name}" value="([^"]*)"`)?.[1] ?? '';
  return { token: value('_csrf'), nonce: value('nonce') };
}

/** Sends a form from the visitor's browser. */
export function submit(
  app: TestApp,
  path: string,
  fields: Record<string, string>,
  visitor?: Pick<Visitor, 'cookie' | 'token'>,
  headers: Record<string, string> = {},
) {
  const body = new URLSearchParams({ ...(visitor && { _csrf: visitor.token }), ...fields });
  const all = { ...(visitor && { Cookie: visitor.cookie }), ...headers };
  return app.request(path, { method: 'POST', body, headers: all });
}
