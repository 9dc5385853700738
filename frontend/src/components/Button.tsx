import { Link, type LinkProps } from "@tanstack/react-router";
import type { ButtonHTMLAttributes, ReactNode } from "react";

type Kind = "primary" | "plain" | "quiet" | "danger";

const BASE =
  "inline-flex min-h-8 items-center justify-center gap-1.5 rounded px-3 py-1 text-body font-medium whitespace-nowrap " +
  "transition-colors duration-120 disabled:opacity-50 disabled:cursor-default pointer-coarse:min-h-11";
const KINDS: Record<Kind, string> = {
  primary: "bg-accent text-on-accent border border-accent not-disabled:hover:opacity-90",
  plain: "border border-control bg-page text-ink not-disabled:hover:bg-hover",
  quiet: "border border-transparent text-accent not-disabled:hover:bg-hover",
  danger: "border border-fail bg-page text-fail not-disabled:hover:bg-fail-tint",
};

/** The look of a button, for a plain link such as one to a file. */
export function buttonLook(kind: Kind): string {
  return `${BASE} ${KINDS[kind]}`;
}

export function Button({
  kind = "plain",
  className = "",
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { kind?: Kind }): ReactNode {
  return <button type="button" {...rest} className={`${buttonLook(kind)} ${className}`} />;
}

export function ButtonLink({
  kind = "plain",
  children,
  ...to
}: LinkProps & { kind?: Kind; children: ReactNode }): ReactNode {
  return (
    <Link {...to} className={buttonLook(kind)}>
      {children}
    </Link>
  );
}
