#!/usr/bin/env node
import { enableCompileCache } from 'node:module';

// Saves two thirds of the startup time (type stripping, compiling). A read-only folder disables the cache.
enableCompileCache(`${import.meta.dirname}/.cache`);
const { run } = await import('./run.ts');

process.exit(await run());
