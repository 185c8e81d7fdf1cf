import type { Component } from 'preact';
import { describe, expect, it } from 'vitest';
import { besidePose } from '../../src/lib/pages/beside-pose.tsx';
import type { PageState } from '../../src/lib/pages/index.ts';
import { textsOf } from '../../src/lib/pages/texts/catalogue.ts';
import { type Interaction, type Props, still } from '../../src/lib/pages/ui.ts';
import { ready } from './states.ts';

const props: Props = {
  ...{ state: ready, ui: still, viewer: { language: 'de', readOnly: false, signedIn: false } },
  ...textsOf('de', 'UTC'),
};
const Shown = besidePose<Props>(() => null) as unknown as new (props: Props) => Component<Props>;
const isRenderedAgain = (change: Partial<Props>) =>
  new Shown(props).shouldComponentUpdate?.({ ...props, ...change }, {}, undefined);

describe('a part of a page that shows no pose', () => {
  it('is not rendered again for a pose alone', () => {
    const pose = { ...ready.pose, value: { xM: 5, yM: 5 } };
    expect(
      isRenderedAgain({ state: { ...ready, pose, heading: { ...ready.heading, value: 1 } }, ui: { ...still } }),
    ).toBe(false);
  });

  it('is rendered again for every other change', () => {
    for (const key of Object.keys(ready) as (keyof PageState)[]) {
      if (key === 'pose' || key === 'heading') continue;
      expect([key, isRenderedAgain({ state: { ...ready, [key]: {} } as PageState })]).toEqual([key, true]);
    }
    for (const key of Object.keys(still) as (keyof Interaction)[]) {
      expect([key, isRenderedAgain({ ui: { ...still, [key]: {} } as Interaction })]).toEqual([key, true]);
    }
    expect(isRenderedAgain({ viewer: { ...props.viewer } })).toBe(true);
  });
});
