import { unknownNames } from '@longhand/shared/environment-error.ts';
import { browserLimit, type Follow } from '../expansion/expansion.ts';
import { ownNames, type Variable, variables } from '../variables.ts';
import { type Format, formats } from './output.ts';

// `import` would also load what this module loads lazily, which takes 4 ms.
const { parseArgs } = process.getBuiltinModule('node:util');

type Environment = {
  [Name in keyof typeof variables]: NonNullable<ReturnType<(typeof variables)[Name]['read']>>;
};

export type Options = ReturnType<typeof readOptions>;

/** @throws Error that names the first invalid option or variable and its valid values. */
export function readOptions(args: string[], env: NodeJS.ProcessEnv) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      follow: { type: 'string', default: 'default' },
      format: { type: 'string', default: 'ndjson' },
      concurrency: { type: 'string', default: '50' },
      timeout: { type: 'string', default: '8' },
      'max-redirect': { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const { follow, format } = values;
  if (follow !== 'default' && follow !== 'all') throw new Error(`--follow=${follow}: use default or all`);
  if (format !== 'ndjson' && format !== 'tsv') throw new Error(`--format=${format}: use ndjson or tsv`);
  const environment = readEnvironment(env);
  const maxRedirect = follow === 'all' ? browserLimit : environment.EXPANDER_MAX_REDIRECT;
  return {
    follow: follow as Follow,
    format: formats[format] as Format,
    /** Maximum concurrent expansions. Each expansion may open a socket, and the usual limit is 1,024 open files. */
    concurrency: number('concurrency', values.concurrency, 1, 256),
    /** Timeout per URL, including its redirects (ms). */
    timeout: number('timeout', values.timeout, 1, 600) * 1_000,
    maxRedirect: number('max-redirect', values['max-redirect'] ?? `${maxRedirect}`, 0, 50),
    help: values.help,
    urls: positionals,
    environment,
  };
}

function number(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d{1,4}$/.test(text) && value >= min && value <= max) return value;
  throw new Error(`--${name}=${text}: use a whole number from ${min} to ${max}`);
}

function readEnvironment(env: NodeJS.ProcessEnv): Environment {
  const [unknown] = unknownNames(
    env,
    [...Object.keys(variables), 'EXPANDER_CLIENT_RATE', 'EXPANDER_KEYS_FILE'],
    ownNames,
  );
  if (unknown) throw new Error(unknown);
  const read = ([name, { read, fallback, fault }]: [string, Variable<unknown>]) => {
    const value = read(env[name] || fallback);
    if (value === undefined) throw new Error(`${name}=${env[name]}: ${fault}`);
    return [name, value];
  };
  return Object.fromEntries(Object.entries(variables).map(read)) as Environment;
}
