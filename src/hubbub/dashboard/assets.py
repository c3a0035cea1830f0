"""Style sheets, scripts and icon, under names that change with their content and so may be kept for ever.

Pages name the hash of each, so a browser runs nothing else, such as what another program once served at this address
and left in the browser's cache.
"""

import base64
import gzip
import hashlib
import logging
import re
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from hubbub.dashboard.bundle import Bundle, BundleError, vega_version
from hubbub.serving.problems import RequestError

PREFIX = "/assets/"
VEGA = "vega.js"
_FOLDER = Path(__file__).parent / "static"
_KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_HEADERS = {"cache-control": "public, max-age=31536000, immutable", "vary": "accept-encoding"}
_GZIP = re.compile(r"(?:^|,)\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[0-9.]+\s*)?(?:,|$)", re.IGNORECASE)


class Assets:
    """All files beside the pages."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[bytes, str]] = {}
        self._urls: dict[str, str] = {}
        self._hashes: dict[str, str] = {}
        for path in sorted(_FOLDER.iterdir()):
            content = path.read_bytes()
            self._add(path.name, content, gzip.compress(content, 9, mtime=0))
        found = vega_version()
        self._bundle = None if found is None else Bundle(f"vega-{found}")

    def url(self, name: str) -> str:
        """Where a file of the folder `static` is served, or `VEGA` once it is there."""
        return self._urls[name]

    def integrity(self, name: str) -> str:
        """What a page names of its content."""
        return self._hashes[name]

    def vega(self) -> bool:
        """Whether the program that draws charts is there; the first who asks may wait until it is made."""
        if VEGA not in self._urls and (bundle := self._bundle) is not None:
            try:
                packed = bundle.packed()
            except BundleError as error:
                logging.getLogger(__name__).error("hubbub: %s; charts are plain", error)
                self._bundle = None
            else:
                self._add(VEGA, gzip.decompress(packed), packed)
        return VEGA in self._urls

    def serve(self, request: Request) -> Response:
        """Answer a request for one of them."""
        try:
            packed, kind = self._files[request.path_params["file"]]
        except KeyError:
            raise RequestError(404, "not_found", "there is no such file") from None
        if _GZIP.search(request.headers.get("accept-encoding", "")):
            return Response(packed, headers={**_HEADERS, "content-encoding": "gzip"}, media_type=kind)
        return Response(gzip.decompress(packed), headers=_HEADERS, media_type=kind)

    def _add(self, name: str, content: bytes, packed: bytes) -> None:
        digest, path = hashlib.sha256(content), Path(name)
        served = f"{path.stem}-{digest.hexdigest()[:16]}{path.suffix}"
        self._files[served] = packed, _KINDS[path.suffix]
        self._hashes[name] = f"sha256-{base64.b64encode(digest.digest()).decode()}"
        self._urls[name] = PREFIX + served
