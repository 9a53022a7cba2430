"""`intelliperf survey -- ./app`: every kernel with its counters, lines and findings, for programs."""

from __future__ import annotations

import sys

from intelliperf.cli.application import application_of, run_root
from intelliperf.cli.improve import check_output, scratch
from intelliperf.cli.options import Options
from intelliperf.cli.saved import keep_options
from intelliperf.cli.view import view_for
from intelliperf.cli.wiring import open_run
from intelliperf.processes.storage import write_atomically
from intelliperf.project.journal import Journal, to_json


def survey_application(options: Options) -> int:
    """Write `survey.json` into the run directory, and print it or copy it to --output-file."""
    from intelliperf.nightly.survey import SURVEY, survey

    application, _ = application_of(options)
    check_output(options)
    with (
        view_for(options.json_events, options.verbose, None) as view,
        Journal.create(run_root(options, application.project), "survey", view) as journal,
        scratch(options, journal),
    ):
        keep_options(options, journal)
        payload = to_json(survey(open_run(options, application, journal)))
        journal.write(SURVEY, payload)
    if options.output_file is not None:
        write_atomically(options.output_file.resolve(), payload)
    elif not options.json_events:
        sys.stdout.write(payload.decode())
    return 0
