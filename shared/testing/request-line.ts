import { z } from 'zod';

/** The fields of every log line about a request (docs/operate.md). */
export const requestLine = z.looseObject({
  level: z.enum(['info', 'error']),
  time: z.iso.datetime({ offset: true }),
  service: z.enum(['proxy', 'expander', 'tasks']),
  msg: z.literal('request'),
  method: z.string(),
  path: z.string(),
  status: z.int().min(100).max(999),
  seconds: z.number().nonnegative(),
  requestId: z.string().regex(/^[0-9a-f]{32}$/),
  client: z.ipv4().or(z.ipv6()),
});
