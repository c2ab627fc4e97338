/**
 * `node deploy/sbom.ts <service>` prints what a service is made of, as CycloneDX. `npm sbom --omit dev` leaves out the
 * packages that another workspace has for its development, so what `npm ls` counts decides.
 */
import { execFileSync } from 'node:child_process';

interface Tree {
  version?: string;
  dependencies?: Record<string, Tree>;
}

interface Bom {
  components: { 'bom-ref': string }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

const npm = (...args: string[]) =>
  JSON.parse(execFileSync('npm', [...args, '--silent'], { encoding: 'utf8', maxBuffer: 2 ** 26 }));

/** The packages below `tree`, as `name@version`. */
function* packages({ dependencies = {} }: Tree): Generator<string> {
  for (const [name, tree] of Object.entries(dependencies)) {
    yield `${name}@${tree.version}`;
    yield* packages(tree);
  }
}

const [service = ''] = process.argv.slice(2);
const workspace = `--workspace=${service}`;
const used = new Set(packages(npm('ls', '--all', '--omit=dev', '--json', workspace)));
const bom: Bom = npm('sbom', '--sbom-format=cyclonedx', '--package-lock-only', workspace);
const isUsed = (ref: string) => used.has(ref);
console.log(
  JSON.stringify(
    {
      ...bom,
      components: bom.components.filter((component) => isUsed(component['bom-ref'])),
      dependencies: bom.dependencies
        .filter(({ ref }) => isUsed(ref))
        .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isUsed) })),
    },
    null,
    2,
  ),
);
