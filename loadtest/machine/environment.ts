import os from 'node:os';

/** The machine, and the version of Node. */
export function machine(): Record<string, string> {
  return {
    processor: `${os.availableParallelism()} x ${os.cpus()[0]?.model.trim()}`,
    memory: `${Math.round(os.totalmem() / 2 ** 30)} GiB`,
    system: `${os.type()} ${os.release()}`,
    node: process.version,
  };
}
