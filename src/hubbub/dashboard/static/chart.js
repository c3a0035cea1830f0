// Draws the chart of a metric in place of its plain picture, which stays where that fails.
"use strict";

document.addEventListener("DOMContentLoaded", async () => {
  const place = document.getElementById("chart");
  const spec = document.getElementById("chart-spec");
  if (!place || !spec || !window.vegaEmbed) return;
  const drawn = document.createElement("div");
  drawn.className = "drawn";
  place.append(drawn);
  try {
    await window.vegaEmbed(drawn, JSON.parse(spec.textContent), {
      mode: "vega-lite",
      renderer: "svg",
      ast: true, // no eval, which the policy of the page forbids
      actions: false,
      defaultStyle: false,
      tooltip: { disableDefaultStyle: true },
    });
    // One picture with one name; what it shows stands in the table.
    drawn.setAttribute("role", "img");
    drawn.setAttribute("aria-labelledby", "measured");
    drawn.querySelector("svg").setAttribute("aria-hidden", "true");
    place.replaceChildren(drawn);
    place.dataset.drawn = "yes";
  } catch (error) {
    drawn.remove();
    place.dataset.drawn = "no";
    console.error(error);
  }
});
