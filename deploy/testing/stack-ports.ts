import { freePorts } from '@longhand/shared/testing/free-port.ts';

/** Free ports for a stack, as variables and as URLs of its proxy. */
export async function freeStackPorts() {
  const ports = await freePorts('LONGHAND_PORT', 'LONGHAND_EXPANDER_PORT', 'LONGHAND_TASKS_PORT');
  const url = (port: number) => `http://127.0.0.1:${port}`;
  return {
    ports,
    variables: Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, `${port}`])),
    urls: {
      proxy: url(ports.LONGHAND_PORT),
      expander: url(ports.LONGHAND_EXPANDER_PORT),
      tasks: url(ports.LONGHAND_TASKS_PORT),
    },
  };
}

export type StackUrls = Awaited<ReturnType<typeof freeStackPorts>>['urls'];
