// In simulated time a day passes in ten seconds: the page renews itself until it is told to stop.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const KEY = "hubbub-stopped";
  const button = document.getElementById("renew");
  let timer = 0;

  const busy = () =>
    document.hidden || String(document.getSelection()) || document.activeElement?.matches("input, select");
  const tick = () => {
    if (!busy()) location.reload();
  };
  const show = () => {
    const stopped = sessionStorage.getItem(KEY) !== null;
    button.textContent = stopped ? "Renew every 10 s" : "Stop renewing";
    clearInterval(timer);
    if (!stopped) timer = setInterval(tick, 10_000);
  };
  button.addEventListener("click", () => {
    if (sessionStorage.getItem(KEY) === null) sessionStorage.setItem(KEY, "yes");
    else sessionStorage.removeItem(KEY);
    show();
  });
  button.hidden = false;
  show();
});
