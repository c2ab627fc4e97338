import type { Need } from '../capacity/model.ts';

/** nginx workers of one proxy in `deploy/kubernetes`: LONGHAND_WORKERS. */
const workers = 2;

/** Fewer would not outlive the loss of a node. */
const fewest = 2;

const redis = ['expander-cache', 'tasks-store'];

/**
 * What belongs into the kustomization.yaml of an overlay of `deploy/kubernetes`, so that it is of the size that `needs`
 * say: replicas, and what each container requests.
 */
export function kustomizePatch(needs: readonly Need[]): string {
  const parts = needs.map((need) => ({ ...need, replicas: replicasOf(need) }));
  const services = parts.filter(({ part }) => !redis.includes(part));
  return [
    '# Into the kustomization.yaml of your overlay. Without `replicas` where components/autoscaling decides on them.',
    'replicas:',
    ...services.map(({ part, replicas }) => `  - { name: ${part}, count: ${replicas} }`),
    'patches:',
    ...parts.flatMap(requests),
    ...services.flatMap(autoscaling),
  ].join('\n');
}

function replicasOf({ part, count }: Need): number {
  if (redis.includes(part)) return 1;
  return Math.max(fewest, part === 'proxy' ? Math.ceil(count / workers) : count);
}

interface Part extends Need {
  replicas: number;
}

function requests({ part, cores, memory, count, replicas }: Part): string[] {
  const [kind, container] = redis.includes(part) ? ['StatefulSet', 'redis'] : ['Deployment', part];
  const processes = part === 'proxy' ? 1 : count;
  const cpu = `${Math.max(10, Math.ceil((1_000 * cores) / replicas))}m`;
  const bytes = `${Math.ceil(memory / processes / 2 ** 20)}Mi`;
  const first = '/spec/template/spec/containers/0';
  return [
    `  - target: { kind: ${kind}, name: ${part} }`,
    '    patch: |',
    `      - { op: test, path: ${first}/name, value: ${container} }`,
    `      - { op: replace, path: ${first}/resources/requests, value: { cpu: ${cpu}, memory: ${bytes} } }`,
  ];
}

/** More replicas once they use what they requested; where nothing scales them, it has no effect. */
function autoscaling({ part, replicas }: Part): string[] {
  return [
    `  - target: { kind: HorizontalPodAutoscaler, name: ${part} }`,
    '    patch: |',
    `      - { op: replace, path: /spec/maxReplicas, value: ${2 * replicas} }`,
    '      - { op: replace, path: /spec/metrics/0/containerResource/target/averageUtilization, value: 100 }',
  ];
}
