// What test/run.js needs of a run of vitest, as one JSON file: GW_TEST_REPORT names it.
import { writeFileSync } from 'node:fs';

export default class CountingReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    const failed = [];
    const skipped = [];
    const broken = unhandledErrors.map((error) => ({ file: 'unhandled error', messages: messagesOf([error]) }));
    for (const module of modules) {
      // A file that cannot be loaded, or a hook of a suite that fails.
      const suites = [module, ...module.children.allSuites()];
      for (const suite of suites) {
        const errors = suite.errors();
        if (errors.length > 0) broken.push({ file: module.relativeModuleId, messages: messagesOf(errors) });
      }
      for (const test of module.children.allTests()) {
        const { state, errors = [] } = test.result();
        if (state === 'passed' || state === 'failed') counts[state] += 1;
        else if (!isLeftOut(test)) {
          counts.skipped += 1;
          skipped.push(test.fullName);
        }
        if (state !== 'failed') continue;
        failed.push({
          project: module.project.name,
          file: module.relativeModuleId,
          name: test.fullName,
          messages: messagesOf(errors),
        });
      }
    }
    writeFileSync(process.env.GW_TEST_REPORT, JSON.stringify({ counts, failed, skipped, broken }));
  }
}

/** Of `npm test` and `npm run test:all`, the other one counts it. */
function isLeftOut({ options }) {
  const isLarge = options.tags.includes('large');
  if (process.env.GW_TEST_ONLY_BEYOND === 'yes') return !isLarge && !options.tags.includes('property');
  return process.env.GW_TEST_ALL !== 'yes' && isLarge;
}

function messagesOf(errors) {
  return errors.map(({ name, message }) => `${name ?? 'Error'}: ${message}`);
}
