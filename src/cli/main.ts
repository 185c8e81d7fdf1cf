import { run, settings } from '@oclif/core';
import { asGwError } from '../lib/error/index.ts';
import { fromFramework } from './command.ts';
import { renderError } from './output.ts';

/**
 * Entry of the command line. `argv` is without node and script; `root` is the URL of the running script, from
 * which the framework finds package and commands.
 */
export async function main(argv: string[], root: string): Promise<void> {
  settings.performanceEnabled = false;
  try {
    await run(argv, root);
  } catch (error) {
    // Errors outside a command: an unknown command, or a request for help.
    if ((error as { code?: string }).code === 'EEXIT') {
      process.exitCode = (error as { oclif?: { exit?: number } }).oclif?.exit ?? 0;
      return;
    }
    const gwError = fromFramework(error) ?? asGwError(error);
    process.exitCode = gwError.exitCode;
    if (argv.includes('--json')) {
      const envelope = { schema: 'gw/error/1', ok: false, data: null, warnings: [], error: gwError.toJSON() };
      process.stdout.write(`${JSON.stringify(envelope, null, 2)}\n`);
    } else {
      process.stderr.write(`${renderError(gwError)}\n`);
    }
  } finally {
    // Not the flush of the framework, which hangs once the reader is gone; a failed write calls back as well. Only with
    // pending data: on a terminal after Ctrl-S even an empty write blocks.
    if (process.stdout.writableLength > 0) {
      await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
    }
    // After long operation under load the regular end of Node was observed to spin for ever
    // (Environment::CleanupHandles). All services of the daemon are stopped and its lines written at this point.
    if (argv[0] === 'serve') process.exit();
  }
}
