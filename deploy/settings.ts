import { execFile } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readEnv, readOrExit } from '@longhand/shared/env.ts';
import { configurationExitCode, EnvironmentError } from '@longhand/shared/environment-error.ts';
import { nearMisses } from './near-misses.ts';
import {
  allVariables,
  containerVariables,
  settingNames,
  stackVariables,
  withoutStackVariables,
} from './variables.ts';

/**
 * Reads the stack's variables. Each service checks its own variables.
 *
 * @param more errors that other checks found.
 * @throws EnvironmentError that lists every error.
 */
export async function readSettings(env: NodeJS.ProcessEnv, more: string[] = []) {
  const services = await Promise.all(['expander', 'tasks'].map((service) => serviceFaults(service, env)));
  const faults = new Set([...stackFaults(env), ...more, ...services.flat()]);
  if (faults.size > 0) throw new EnvironmentError(`Invalid environment:\n  ${[...faults].join('\n  ')}`);
  return readEnv(stackVariables, env);
}

/** Returns an error for each invalid variable of the stack. */
export function stackFaults(env: NodeJS.ProcessEnv): string[] {
  try {
    return relationFaults(readAll(env));
  } catch (error) {
    if (error instanceof EnvironmentError) return error.message.split('\n  ').slice(1);
    throw error;
  }
}

/** Returns an error for each invalid variable of a service. The service checks the variables again at startup. */
async function serviceFaults(service: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  const own = Object.entries(withoutStackVariables(env)).filter(([name]) =>
    /^(EXPANDER|TASKS)_|^(LOG_LEVEL|NODE_COMPILE_CACHE)$/.test(name),
  );
  const program = join(import.meta.dirname, '..', service, 'src', 'config.ts');
  try {
    await promisify(execFile)(process.execPath, [program], { env: Object.fromEntries(own) });
    return [];
  } catch (error) {
    const { code, stderr } = error as { code: number; stderr: string };
    if (code === configurationExitCode) return stderr.trim().split('\n  ').slice(1);
    throw error;
  }
}

// The variables in `others` affect only build scripts.
const readAll = (env: NodeJS.ProcessEnv) =>
  readEnv(allVariables, env, {
    prefix: 'LONGHAND_',
    others: ['LONGHAND_REGISTRY', 'LONGHAND_VERSION'],
  });
type Settings = ReturnType<typeof readAll>;

/** Returns conflicts between settings that are valid individually. */
function relationFaults(settings: Settings): string[] {
  const unique = (names: readonly (keyof Settings)[]) =>
    names.flatMap((name) => {
      const first = names.find((other) => settings[other] === settings[name]);
      if (settings[name] === '' || first === name) return [];
      return [`${name}=${settings[name]}: is the same as ${first}`];
    });
  const names = ['LONGHAND_EXPANDER_NAME', 'LONGHAND_TASKS_NAME'] as const;
  const ports = ['LONGHAND_PORT', 'LONGHAND_EXPANDER_PORT', 'LONGHAND_TASKS_PORT'] as const;
  if (!settings.LONGHAND_CERTIFICATES) return [...unique(names), ...unique(ports)];
  const named = names.every((name) => settings[name]);
  return [
    ...(named ? unique(names) : [`LONGHAND_CERTIFICATES: also set ${names.join(' and ')}`]),
    ...unique([...ports, 'LONGHAND_HTTP_PORT', 'LONGHAND_HTTPS_PORT']),
    // See tls.conf.
    ...ports.flatMap((name) =>
      [8090, 8443].includes(settings[name])
        ? [`${name}=${settings[name]}: nginx uses this port for TLS`]
        : [],
    ),
  ];
}

/** Returns warnings about valid settings with surprising effects. */
export function warningsAbout(env: NodeJS.ProcessEnv, place: 'natively' | 'in containers'): string[] {
  const ignored = place === 'natively' ? Object.keys(containerVariables) : ['LONGHAND_REPLICAS'];
  const warnings = ignored.filter((name) => env[name]).map((name) => `${name} has no effect ${place}.`);
  const reachable = !/^(127\.|::1$|::ffff:127\.|$)/.test(env.LONGHAND_BIND ?? '');
  if ((reachable || env.LONGHAND_FRONT || env.LONGHAND_CERTIFICATES) && !env.TASKS_PASSWORD_FILE)
    warnings.push(
      'The task list has no password: anyone who can reach it can read and change it. ' +
        'To protect it, write a password into a file and set TASKS_PASSWORD_FILE to its path.',
    );
  if (place === 'natively') return warnings;
  if (env.LONGHAND_BIND?.includes(':'))
    warnings.push(
      `LONGHAND_BIND=${env.LONGHAND_BIND}: without an IPv6 network, all clients share one address.`,
    );
  if (!env.LONGHAND_CERTIFICATES) return warnings;
  const certificate = readPair(env.LONGHAND_CERTIFICATES);
  if (!certificate)
    return [
      ...warnings,
      `LONGHAND_CERTIFICATES: user ${process.getuid?.()} cannot read the files, so they are not checked here. See docker compose logs tls.`,
    ];
  for (const name of [env.LONGHAND_EXPANDER_NAME, env.LONGHAND_TASKS_NAME])
    if (name && !certificate.checkHost(name))
      warnings.push(`LONGHAND_CERTIFICATES: the certificate is not valid for ${name}.`);
  return warnings;
}

/** Returns an error unless the key matches the certificate. */
export function certificateFaults({ LONGHAND_CERTIFICATES: folder }: NodeJS.ProcessEnv): string[] {
  try {
    if (folder) readPair(folder);
    return [];
  } catch (error) {
    return [`LONGHAND_CERTIFICATES: ${(error as Error).message}`];
  }
}

/** Reads the certificate in `folder`. Returns undefined if this user cannot read the certificate or its key. */
function readPair(folder: string): X509Certificate | undefined {
  try {
    const certificate = new X509Certificate(readFileSync(join(folder, 'fullchain.pem')));
    const key = createPrivateKey(readFileSync(join(folder, 'privkey.pem')));
    if (certificate.checkPrivateKey(key)) return certificate;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return undefined;
    throw error;
  }
  throw new Error('privkey.pem does not match fullchain.pem');
}

/** Returns errors for names in `.env`. Other programs may set such names in the shell. */
function dotenvFaults(env: NodeJS.ProcessEnv): string[] {
  const traces = Object.keys(env).filter((name) => name.startsWith('OTEL_'));
  return [
    ...traces.map((name) => `${name}: Longhand no longer exports traces; delete this line`),
    // The other check names unknown variables with a prefix of ours.
    ...nearMisses(Object.keys(env), settingNames).filter(
      (fault) => !/^(LONGHAND|EXPANDER|TASKS)_/.test(fault),
    ),
  ];
}

/** Returns what deploy/compose/check.sh tries to publish: first the address with any port, then each port. */
function published(settings: Settings) {
  const every = '0.0.0.0';
  const ports = [
    { name: 'LONGHAND_PORT', address: settings.LONGHAND_BIND },
    { name: 'LONGHAND_EXPANDER_PORT', address: settings.LONGHAND_BIND },
    { name: 'LONGHAND_TASKS_PORT', address: settings.LONGHAND_BIND },
    { name: 'LONGHAND_HTTP_PORT', address: every },
    { name: 'LONGHAND_HTTPS_PORT', address: every },
  ] as const;
  const used = ports.filter(({ address }) => address !== every || settings.LONGHAND_CERTIFICATES);
  return [
    { name: 'LONGHAND_BIND', address: settings.LONGHAND_BIND, port: '' },
    ...used.map(({ name, address }) => ({ name, address, port: `${settings[name]}` })),
  ];
}

if (import.meta.main) {
  if (process.argv[2] === 'published') {
    for (const { name, address, port } of published(readAll(process.env)))
      console.log(`${name} ${address} ${port}`);
  } else {
    await readOrExit((env) => readSettings(env, [...dotenvFaults(env), ...certificateFaults(env)]));
    for (const warning of warningsAbout(process.env, 'in containers')) console.log(`Warning: ${warning}`);
  }
}
