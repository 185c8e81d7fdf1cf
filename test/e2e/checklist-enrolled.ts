import { expect, test } from 'vitest';
import { readSecret } from '../../src/lib/site/index.ts';
import { enrolDevice } from '../../src/lib/toolkit/enrol/enrol.ts';
import { openToolkit } from '../../src/lib/toolkit/toolkit.ts';
import { namespaceQuestion } from './checklist-fault-rows.ts';
import { allOk, type Results, verdicts } from './checklist-steps.ts';
import { answerYes, context, lists, openWorld, type SiteText, type World } from './checklist-world.ts';

/** Shared by the tests of faults that need a running gateway. */

export interface Main extends AsyncDisposable {
  readonly world: World;
  readonly before: Results;
}

/** The steps that drive in the list of the site, what depends on them, and the tour of the demo: each drive takes its time. */
export const drivingSteps: readonly string[] = ['site/stop', 'site/tour', 'site/heading-seen', 'demo/tour'];

/** Short paths. */
export function shorten(site: SiteText): void {
  site.stations.B = { xM: 0.7, yM: 0.3, yawDeg: 180 };
  site.tours = { acceptance: { stations: ['B', 'A'] }, demo: { stations: ['B'] } };
}

/** An enrolled robot with cloud, tablet and two neighbours. */
export async function openEnrolled(): Promise<World> {
  await using undo = new AsyncDisposableStack();
  const parts = ['password', 'enrolment', 'cloud', 'tablet'] as const;
  const world = undo.use(
    await openWorld({ with: parts, robots: 2, tablet: { rebootMs: 300 } }, (site) => {
      site.cloud.region = 'eu-central-1';
      shorten(site);
    }),
  );
  const toolkit = await openToolkit(world.sitePath);
  const readCode = () => readSecret(world.sim.enrolment?.codePath ?? '', 'the one-time code');
  await enrolDevice(toolkit, { renew: false, readCode }, context);
  undo.move();
  return world;
}

/** The questions of all lists that are `chosen`, each with every answer. */
export function testQuestions(chosen: (pair: string) => boolean, robotInOrder: () => Main): void {
  const questions = [...lists.values()].flatMap(({ name, steps }) =>
    steps.flatMap((step) =>
      step.kind === 'confirm' || step.kind === 'measure' ? [{ list: name, id: step.id, step }] : [],
    ),
  );

  test.each(questions.filter(({ list, id }) => `${list}/${id}` !== namespaceQuestion && chosen(`${list}/${id}`)))(
    '$list/$id is ok, wrong, or open, according to its answer',
    async ({ list, id, step }) => {
      const { world, before } = robotInOrder();
      expect(verdicts([`${list}/${id}`], before)).toEqual(allOk([`${list}/${id}`]));
      await world.goBack(list);
      const ask = async (answer: 'yes' | 'no' | 'skip' | null, value: number | null = null) => {
        const given = answer && { ...(await answerYes(step)), answer, value };
        const results = world.run(list, { resume: true, only: [id], ask: async () => given });
        return (await world.during(results)).get(id);
      };
      const isMeasure = step.kind === 'measure';
      const no = isMeasure ? await ask('yes', 1e6) : await ask('no');
      expect(no).toMatchObject({ verdict: 'wrong', remedy: step.remedy, answer: { initials: 'KM' } });
      expect(no?.why).toContain(
        isMeasure ? `value: expected ${step.expectations[0]?.matcher.expected}, found 1000000` : 'answered no: ',
      );
      // With the values of the steps before it in place of their names.
      const asked = step.question.split(/\{[\w.-]+\}/);
      if (!isMeasure) for (const part of asked) expect(no?.why).toContain(part);
      const open = await ask('skip');
      expect(open).toMatchObject({ verdict: 'not-checked', remedy: step.remedy });
      for (const part of ['left it open: ', ...asked]) expect(open?.why).toContain(part);
      const none = await ask(null);
      expect(none).toMatchObject({ verdict: 'not-checked', why: expect.stringMatching(/^Not answered: /) });
      for (const part of asked) expect(none?.why).toContain(part);
      expect(await ask('yes', isMeasure ? 3 : null)).toMatchObject({ verdict: 'ok', remedy: null });
    },
  );
}
