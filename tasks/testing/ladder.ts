import { cluster, type Fault, failover, sentinels } from './failover.ts';

// Measures what "saved" means with Sentinel and in a Cluster, for docs/redis.md: a storm of writes while the primary fails.
//
//   unshare --net sh -c 'ip link set lo up; LONG=1 node tasks/testing/ladder.ts'     (Linux, root, iptables)
//
// The network namespace is for the rules that cut the primary off.

const faults: Fault[] = ['killed', 'hung', 'cut off'];

for (const start of [sentinels, cluster]) {
  for (const replicas of [0, 1, 2]) {
    for (const fault of start === cluster ? faults.slice(0, 2) : faults) {
      const { acknowledged, lost, pause } = await failover(start, fault, replicas);
      const found = `${acknowledged} acknowledged, ${lost.length} lost, ${pause} ms`;
      console.log(`${start.name}, WAIT ${replicas}, ${fault}: ${found}`);
    }
  }
}
process.exit();
