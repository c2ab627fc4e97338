import { integer, list } from '@longhand/shared/env.ts';
import { redisVariables } from '@longhand/shared/redis-address.ts';
import { z } from 'zod';

const port = integer(1, 65_535);

/** A host name, in lower case. */
const hostName = z
  .string()
  .toLowerCase()
  .regex(
    /^(?=.{1,253}$)([a-z0-9_]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
    'is not a host name such as nas.lan',
  );

/** Variables of the whole stack. Each service defines its own variables in `config.ts`. */
export const stackVariables = {
  LONGHAND_BIND: z.union([z.ipv4(), z.ipv6()], 'is not an IP address').default('127.0.0.1'),
  LONGHAND_PORT: port.default(8080),
  LONGHAND_EXPANDER_PORT: port.default(8081),
  LONGHAND_TASKS_PORT: port.default(8082),
  LONGHAND_PROMETHEUS_PORT: port.default(9090),
  LONGHAND_API_RATE: z
    .string()
    .regex(/^[1-9]\d{0,6}r\/[sm]$/, 'is not a rate such as 10r/s or 30r/m')
    .default('1000r/s'),
  LONGHAND_WORKERS: integer(1, 16).optional(),
  /** Ignored in containers. */
  LONGHAND_REPLICAS: integer(1, 16).default(1),
  LONGHAND_FRONT: list(
    z.union([z.cidrv4(), z.cidrv6()], 'is not a list of networks such as 10.80.80.1/32,fd00::1/128'),
  ).default([]),
  LONGHAND_EXPANDER_NAME: hostName.default(''),
  LONGHAND_TASKS_NAME: hostName.default(''),
};

const redisUrl = redisVariables.REDIS_URL.unwrap().optional();
const caFile = redisVariables.REDIS_CA_FILE;

/** Ignored by the native stack. */
export const containerVariables = {
  LONGHAND_GRAFANA_PORT: port.default(3001),
  LONGHAND_NOTIFY: z
    .string()
    .regex(/^https?:\/\/[^\s"\\]+$/, 'is not a URL such as https://ntfy.sh/my-topic')
    .default(''),
  LONGHAND_CERTIFICATES: z.string().default(''),
  LONGHAND_HTTP_PORT: port.default(80),
  LONGHAND_HTTPS_PORT: port.default(443),
  EXPANDER_REDIS_URL: redisUrl,
  EXPANDER_REDIS_CA_FILE: caFile,
  TASKS_REDIS_URL: redisUrl,
  TASKS_REDIS_CA_FILE: caFile,
};

export const allVariables = { ...stackVariables, ...containerVariables };

/** The names of all settings, with those of the services. */
export const settingNames = [
  ...Object.keys(allVariables),
  'EXPANDER_ALLOWED_NETWORKS',
  'EXPANDER_CLIENT_RATE',
  'EXPANDER_KEYS_FILE',
  'EXPANDER_MAX_REDIRECT',
  'EXPANDER_USER_AGENT',
  'TASKS_PASSWORD_FILE',
  'TASKS_TOKENS_FILE',
  'TASKS_WAIT_REPLICAS',
  'LOG_LEVEL',
];

export const withoutStackVariables = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !(name in allVariables)));
