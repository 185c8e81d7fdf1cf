import { Component, type ComponentType } from 'preact';
import type { Props } from './ui.ts';

/**
 * The same component, rendered again with every change but that of the pose, which comes ten times a second: of two hundred
 * stations a slow tablet would render no other frame.
 */
export function besidePose<P extends Props>(Shown: ComponentType<P>): ComponentType<P> {
  return class extends Component<P> {
    override shouldComponentUpdate({ state, ui, ...others }: P): boolean {
      const { state: before, ui: uiBefore, ...othersBefore } = this.props as P;
      const { pose: _pose, heading: _heading, ...beside } = state;
      return differs(beside, before) || differs(ui, uiBefore) || differs(others, othersBefore);
    }

    override render(props: P) {
      return <Shown {...props} />;
    }
  };
}

function differs<T extends object>(now: Partial<T>, before: T): boolean {
  return (Object.keys(now) as (keyof T)[]).some((key) => now[key] !== before[key]);
}
