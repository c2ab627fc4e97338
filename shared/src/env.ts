import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { configurationExitCode, EnvironmentError, type OwnNames, unknownNames } from './environment-error.ts';
import type { ListenAddress } from './listen.ts';

/** A whole number from `min` to `max`, without a sign. */
export const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, 'is not a whole number')
    .transform(Number)
    .refine((value) => value >= min && value <= max, `is not from ${min} to ${max}`);

/** A TCP port, or 0 for any free port. */
export const port = integer(0, 65_535);

const readText = (path: string, { addIssue }: z.RefinementCtx) => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const cure = code === 'EACCES' ? `: chown ${process.getuid?.()} FILE && chmod 400 FILE` : '';
    addIssue(`cannot be read (${code})${cure}`);
    return z.NEVER;
  }
};

/** Takes the path of a text file, and returns the file's content. */
export const textFile = z.string().transform(readText);

/** Checks that the file is readable, but returns its path, so that the file can be reread. */
export const readableFile = z.string().transform((path, context) => {
  readText(path, context);
  return path;
});

/** Reads a secret from a file. The default is an empty string. */
export const secretFile = textFile.transform((text) => text.trim()).default('');

/** A list of `item`s, separated by commas or white space. */
export const list = <Item extends z.ZodType<unknown, string>>(item: Item) =>
  z
    .string()
    .transform((text) => text.split(/[\s,]+/).filter(Boolean))
    .pipe(z.array(item));

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export const serviceVariables = {
  HOST: z.string().default('127.0.0.1'),
  PORT: port.default(3000),
  SOCKET_PATH: z.string().optional(),
  OPS_HOST: z.string().optional(),
  OPS_PORT: port.default(9464),
  OPS_SOCKET_PATH: z.string().optional(),
  LOG_LEVEL: z.enum(logLevels, `is not one of ${logLevels.join(', ')}`).default('info'),
};

export type ServiceConfig = z.output<z.ZodObject<typeof serviceVariables>>;

/** The addresses of a service and its operations endpoints. A socket path overrides host and port. */
export function listenAddresses(config: ServiceConfig) {
  const { HOST, PORT, SOCKET_PATH, OPS_HOST = HOST, OPS_PORT, OPS_SOCKET_PATH } = config;
  const address = (host: string, port: number, path?: string): ListenAddress =>
    path ? { path } : { host, port };
  return {
    service: address(HOST, PORT, SOCKET_PATH),
    operations: address(OPS_HOST, OPS_PORT, OPS_SOCKET_PATH),
  };
}

/** Reads the environment. Prints an error message and exits with 78 if it is invalid. */
export async function readOrExit<Config>(
  read: (env: NodeJS.ProcessEnv) => Config | Promise<Config>,
): Promise<Config> {
  try {
    return await read(process.env);
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    console.error(error.message);
    process.exit(configurationExitCode);
  }
}

/**
 * Reads the variables of `shape` from `env`. Empty variables are treated as unset.
 *
 * @throws EnvironmentError for invalid variables, and for unknown names with the prefix of `own`
 */
export function readEnv<Shape extends z.ZodRawShape>(
  shape: Shape,
  env: NodeJS.ProcessEnv,
  own?: OwnNames,
): z.output<z.ZodObject<Shape>> {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const read = z.object(shape).safeParse(given);
  const bad = (read.error?.issues ?? []).map((issue) => {
    const name = String(issue.path[0]);
    return given[name] === undefined
      ? `${name} is not set`
      : `${name}=${withoutPassword(given[name])}: ${issue.message}`;
  });
  const faults = [...(own ? unknownNames(env, Object.keys(shape), own) : []), ...bad];
  if (faults.length > 0) throw new EnvironmentError(`Invalid environment:\n  ${faults.join('\n  ')}`);
  return read.data as z.output<z.ZodObject<Shape>>;
}

/** Hides the password in a URL, because logs contain these messages. */
const withoutPassword = (value: string) => value.replace(/^([^:/]*:\/\/).*@/, '$1***@');
