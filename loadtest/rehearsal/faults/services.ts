import { type Faults, firsts, lasting, signalled } from '../fault.ts';
import { answersWithin, lastFailsWithin, noneFails, noneFailsLater } from '../judge.ts';
import { pause } from '../until.ts';

const services = ['expander', 'tasks'] as const;

/** Services that end while another replica runs, and the proxy. */
export const serviceFaults: Faults = {
  'services-terminated': {
    judges: [noneFails()],
    async cause(stack, drill) {
      let longest = 0;
      for (let round = 0; round < 20; round++) {
        for (const service of services) {
          const { code, seconds } = await stack.terminate(service, await stack.first(service));
          longest = Math.max(longest, seconds);
          if (code !== '0') drill.broken.push(`${service} exited with code ${code}`);
          await stack.settled();
          // Docker restarts at once only what ran for 10 s.
          await pause(5);
        }
      }
      drill.notes.push(`exits after at most ${longest.toFixed(1)} s`);
      if (longest > 10) drill.broken.push(`an exit took ${longest.toFixed(1)} s`);
    },
  },
  'proxy-terminated': {
    judges: [noneFailsLater('ended', 2)],
    async cause(stack, drill) {
      const { code, seconds } = await stack.terminate('proxy', await stack.first('proxy'));
      drill.notes.push(`exit after ${seconds.toFixed(1)} s`);
      if (code !== '0' || seconds > 10) drill.broken.push(`it exited with code ${code} after ${seconds} s`);
    },
  },
  'replica-killed': {
    judges: [lastFailsWithin(1)],
    cause: lasting(3, signalled('KILL', ...services)),
  },
  'replica-hung': {
    judges: [lastFailsWithin(3), answersWithin(4)],
    async cause(stack, drill) {
      await signalled('STOP', ...services)(stack, drill);
      await pause(10);
      drill.ended = Date.now();
      await stack.settled();
      for (const service of services) {
        const [exit] = await stack.exits(service, drill.began);
        if (exit)
          drill.notes.push(`${service} was killed after ${((exit.at - drill.began) / 1_000).toFixed(1)} s`);
        else drill.broken.push(`${service} was not killed`);
      }
    },
  },
  'replica-cut-off': {
    judges: [
      noneFails('hot', 'miss'),
      lastFailsWithin(3),
      answersWithin(3, 'read', 'write'),
      answersWithin(11, 'hot', 'miss'),
    ],
    cause: lasting(8, async (stack, drill) => {
      const replicas = await firsts(stack, drill, services);
      const back = await Promise.all(services.map((service, i) => stack.cutOff(service, replicas[i] ?? '')));
      return () => Promise.all(back.map((restore) => restore()));
    }),
  },
};
