#!/usr/bin/env node
import { enableCompileCache } from 'node:module';

// Without this, type stripping and compiling take two thirds of the startup time. Only this command writes to the folder. If
// it is read-only, nothing is cached.
enableCompileCache(`${import.meta.dirname}/.cache`);
const { run } = await import('./run.ts');

process.exit(await run());
