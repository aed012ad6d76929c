"""`deniable demo`: one made-up hospital's story, from a question to an attack."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

import deniable as dp

if TYPE_CHECKING:
    from rich.console import Console


def demo(
    picture: Annotated[
        Path, typer.Option(help="The file of the picture, .png or .svg.", metavar="FILE")
    ] = Path("deniable-demo.png"),
) -> None:
    """Tell one made-up hospital's story: answers, a survey, a copy, a model, an attack."""
    from rich.console import Console

    from deniable.app.cli.story.attack_story import attack_staff
    from deniable.app.cli.story.copy_and_model import copy_hospital, train_model
    from deniable.app.cli.story.hospital_questions import ask_hospital, open_hospital
    from deniable.app.cli.story.survey_phones import ask_phones

    console = Console(highlight=False)
    with TemporaryDirectory() as name:
        folder = Path(name)
        with open_hospital(folder) as session:
            answers = ask_hospital(console, session, folder)
            console.print(draw_picture(answers[0], picture), soft_wrap=True)
            ask_phones(console, folder)
            copy_hospital(console, session)
            train_model(console, session, str(folder / "hospital.duckdb"))
            attack_staff(console)
            tell_protection(console, session)


def draw_picture(answer: "dp.Release", picture: Path) -> str:
    """Draws an answer; says where the picture is, or what is missing to draw it."""
    try:
        from deniable.figures.canvas import save

        figure = answer.plot("mean_cost")
    except ImportError as missing:  # the message says how to add it
        return f"No picture: {missing}"
    picture.parent.mkdir(parents=True, exist_ok=True)
    return f"\nThe mean cost of each ward, with margins, is drawn in {save(figure, picture)}"


def tell_protection(console: "Console", session: "dp.Session") -> None:
    """What everything together has revealed about a patient, and where to go on."""
    from deniable.app.cli.story.copy_and_model import MODEL_PRICE
    from deniable.app.cli.story.hospital_questions import BUDGET
    from deniable.exact.text_formats import factor_up
    from deniable.privacy.losses.hypothesis_testing import odds_factor

    # The model was trained on arrays, so the session's ledger does not know of it.
    loss = dp.PureLoss(BUDGET - session.remaining.epsilon + MODEL_PRICE)
    console.print(
        "\n[bold]What was protected[/bold]\nEach patient, with all visits: the answers, the "
        f"copy and the model together cost epsilon {loss.epsilon():g} and multiply anyone's "
        f"odds about them by at most {factor_up(odds_factor(loss))}, except with a "
        "probability below one in a million. What such odds mean: "
        f"[bold]deniable odds {loss.epsilon():g}[/bold]\n"
        "The same hospital in a browser: [bold]deniable serve --demo[/bold]\n",
    )
