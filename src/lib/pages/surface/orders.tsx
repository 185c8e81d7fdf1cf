import { mayGo, type Props } from '../ui.ts';
import { type Choice, choiceText } from '../viewer.ts';

/** Stations, tours and the charging station: a touch chooses, and the sheet asks. */
export function Orders(props: Props) {
  const { state, viewer, t, f } = props;
  const { stations, tours, dock, needsSignIn } = state.site;
  if (viewer.readOnly) return null;
  return (
    <section class="orders" aria-labelledby="orders-title">
      <h2 id="orders-title">{t.ui.where}</h2>
      {needsSignIn && !viewer.signedIn && (
        <p class="hint">
          {t.ui.signInToGo} <a href="/anmeldung">{t.ui.signInLink}</a>
        </p>
      )}
      {stations.length === 0 && tours.length === 0 && dock === null && <p>{t.ui.noStations}</p>}
      <ul class="targets">
        {stations.map(({ name, title }) => (
          <Target {...props} key={name} choice={{ kind: 'station', name }} title={f.label(name, title)} />
        ))}
      </ul>
      {tours.length > 0 && <h2>{t.ui.tours}</h2>}
      <ul class="targets">
        {tours.map(({ name, title, stations: via }) => (
          <Target
            {...props}
            key={name}
            choice={{ kind: 'tour', name }}
            title={f.label(name, title)}
            detail={via.map((key) => f.named(key, stations.find((one) => one.name === key)?.title)).join(' → ')}
          />
        ))}
        {dock !== null && <Target {...props} choice={{ kind: 'dock' }} title={t.ui.dock} />}
      </ul>
    </section>
  );
}

interface TargetProps extends Props {
  readonly choice: Choice;
  readonly title: string;
  readonly detail?: string;
}

function Target({ choice, title, detail, ...props }: TargetProps) {
  const { ui } = props;
  const isChosen = ui.choice !== null && choiceText(ui.choice) === choiceText(choice);
  return (
    <li>
      <a
        class={`target${isChosen ? ' chosen' : ''}${mayGo(props, choice) ? '' : ' waiting'}`}
        href={`/?ziel=${encodeURIComponent(choiceText(choice))}`}
        aria-current={isChosen ? 'true' : undefined}
        onClick={(event) => {
          if (ui.act === null) return;
          event.preventDefault();
          ui.act.choose(choice);
        }}
      >
        <bdi>{title}</bdi>
        {detail !== undefined && <small>{detail}</small>}
      </a>
    </li>
  );
}
