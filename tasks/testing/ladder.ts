import { type Fault, failover } from './failover.ts';

// Measures what "saved" means with Sentinel, for docs/operate.md: a storm of writes while the primary fails.
//
//   unshare --net sh -c 'ip link set lo up; LONG=1 node tasks/testing/ladder.ts'     (Linux, root, iptables)
//
// The network namespace is for the rules that cut the primary off.

const faults: Fault[] = ['killed', 'hung', 'cut off'];

for (const replicas of [0, 1, 2]) {
  for (const fault of faults) {
    const { acknowledged, lost, pause } = await failover(fault, replicas);
    console.log(`WAIT ${replicas}, ${fault}: ${acknowledged} acknowledged, ${lost.length} lost, ${pause} ms`);
  }
}
process.exit();
