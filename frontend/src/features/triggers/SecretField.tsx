import type { ReactNode } from "react";

import { FormField } from "../../components/FormField.tsx";

interface Props {
  secret: string;
  problem: string | undefined;
  onChange: (secret: string) => void;
}

/** A secret that the sender made. It is not shown, not even while it is typed. */
export function SecretField({ secret, problem, onChange }: Props): ReactNode {
  return (
    <FormField
      label="Secret"
      optional
      about="Only if the sender makes it, as Stripe does. Otherwise leave it empty: Packline makes one and shows it once."
      problem={problem}
    >
      {(given) => (
        <input
          {...given}
          type="password"
          autoComplete="new-password"
          spellCheck={false}
          value={secret}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </FormField>
  );
}
