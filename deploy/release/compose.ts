/**
 * Prints the compose.yaml of a release: `node deploy/release/compose.ts VERSION FOLDER`.
 *
 * FOLDER contains the `docker buildx build --metadata-file` output for each target. Pushed images are referenced by digest, and
 * local images by ID. Only the engine that built a local image can resolve the ID.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';

interface Service {
  build: { target: string };
  profiles?: string[];
  depends_on?: Record<string, object>;
}

/** Converts docker-compose.yml (`text`). Replaces builds with images and drops services that need a checkout. */
export function releasedStack(text: string, imageOf: (target: string) => string) {
  const { services, ...others } = parse(text, { merge: true });
  const top = Object.entries(others).filter(([key]) => !key.startsWith('x-'));
  const kept = Object.entries<Service>(services).filter(
    ([, { build, profiles = [] }]) => build && !profiles.includes('load'),
  );
  const names = new Set(kept.map(([service]) => service));
  const released = kept.map(([service, { build, depends_on, profiles, ...rest }]) => {
    const dependencies = Object.entries(depends_on ?? {}).filter(([other]) => names.has(other));
    const needs = dependencies.length > 0 && { depends_on: Object.fromEntries(dependencies) };
    // A release backs up by default.
    const optional = profiles && !profiles.includes('backup') && { profiles };
    return [service, { image: imageOf(build.target), ...optional, ...needs, ...rest }];
  });
  return { ...Object.fromEntries(top), services: Object.fromEntries(released) };
}

function builtImage(folder: string, target: string): string {
  const built = JSON.parse(readFileSync(join(folder, `${target}.json`), 'utf8'));
  const digest: string = built['containerimage.digest'];
  const { PUSH, NAME = PUSH } = process.env;
  return PUSH ? `${built['image.name'].replace(PUSH, NAME)}@${digest}` : digest;
}

if (import.meta.main) {
  const [version = '', folder = ''] = process.argv.slice(2);
  const text = readFileSync(join(import.meta.dirname, '../../docker-compose.yml'), 'utf8');
  const stack = releasedStack(text, (target) => builtImage(folder, target));
  const yaml = stringify(stack, { aliasDuplicateObjects: false, lineWidth: 0, version: '1.1' });
  console.log(`# Longhand ${version}. To run it: docker compose up --detach --wait\n${yaml}`);
}
