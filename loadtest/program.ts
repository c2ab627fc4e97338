/** Runs a program. An error ends it with its message alone, and with 1. */
export async function program(main: () => Promise<void>): Promise<void> {
  await main().catch((error: Error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}
