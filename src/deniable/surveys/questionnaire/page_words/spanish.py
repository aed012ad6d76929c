"""The texts of the page that a respondent sees, in Spanish. Figures come from the manifest."""

PAGE = {
    "page_rehearsal": "ENSAYO: nada de lo que se envía aquí cuenta.",
    "page_language": "Idioma",
    "page_who": "Quién pregunta",
    "page_why": "Para qué",
    "page_questions": "Preguntas para usted: {number}",
    "page_one_of": "Este dispositivo sortea para usted una de {number} preguntas privadas.",
    "page_closes": "Abierta hasta el {day}.",
    "page_label": "Qué pasa con su respuesta",
    "page_tap": "¿Quién puede ver la respuesta que toca?",
    "page_tap_answer": "Nadie. Se queda en este dispositivo, que la olvida al enviar.",
    "page_tap_public": (
        "La respuesta a una pregunta privada: nadie. Se queda en este dispositivo, que la "
        "olvida al enviar. La respuesta a una pregunta que se envía tal cual: el anfitrión."
    ),
    "page_leaves": "¿Qué sale de este dispositivo?",
    "page_leaves_answer": (
        "Un informe, después de añadir azar: {number} caracteres, los mismos para "
        "cualquier respuesta."
    ),
    "page_leaks": "¿Y si el informe se filtra?",
    "page_leaks_answer": (
        "Multiplica las probabilidades relativas sobre usted por {odds} como máximo. Una "
        "sospecha de 10 entre 100 pasa a {guess} entre 100 como máximo."
    ),
    "page_link": "¿Quién podría relacionar el informe con usted?",
    "page_link_open": (
        "El informe no tiene nombre, solo un número al azar, para que cuente una vez. Como "
        "cualquier sitio, el servidor podría anotar que su dispositivo estuvo aquí."
    ),
    "page_link_kiosk": (
        "El informe no tiene nombre, solo un número al azar, para que cuente una vez, y "
        "muchas personas usan este dispositivo."
    ),
    "page_link_token": (
        "El anfitrión podría hacerlo: su invitación se envía con el informe. Pero él ve solo "
        "el informe, nunca la respuesta que toca."
    ),
    "page_link_pass": (
        "El anfitrión no puede con sus registros: firma su pase sin verlo. Solo quien anote "
        "las horas y direcciones de las conexiones podría intentarlo."
    ),
    "page_public": "Se envía tal cual, sin azar.",
    "page_how": "Cómo le protege el azar",
    "page_process": (
        "Usted toca lo que es verdad. Después este dispositivo lanza monedas. A menudo envía "
        "su respuesta, a veces otra. Nadie sabe cuál, pero todos los informes juntos muestran "
        "las proporciones."
    ),
    "page_array_same": (
        "De 100 personas cuya respuesta verdadera es «{label}», {number} envían «{label}»."
    ),
    "page_array_other": "De 100 personas con otra respuesta, {number} envían «{label}».",
    "page_low_end": "{number}, lo mínimo",
    "page_high_end": "{number}, lo máximo",
    "page_ticked": "marcada",
    "page_not_ticked": "no marcada",
    "page_try": "Pruébelo",
    "page_try_text": (
        "Elija la respuesta verdadera de una persona inventada y lance las monedas. Nada de "
        "esto se envía."
    ),
    "page_try_person": "La respuesta verdadera de la persona inventada",
    "page_throw": "Lanzar {number} veces",
    "page_throw_once": "Lanzar una vez",
    "page_tally": "Lo que se habría enviado",
    "page_quiz": "¿Está claro?",
    "page_quiz_text": (
        "Alguien ve el informe que envió este dispositivo. ¿Qué averigua? (Lo que elija aquí "
        "no se envía nunca.)"
    ),
    "page_quiz_truth": "Mi respuesta verdadera",
    "page_quiz_hint": "Un indicio: el azar pudo cambiarla",
    "page_quiz_nothing": "Nada en absoluto",
    "page_quiz_truth_told": "No. La respuesta que toca nunca sale de este dispositivo.",
    "page_quiz_hint_told": (
        "Sí. El informe es un indicio: multiplica las probabilidades relativas sobre usted por "
        "{odds} como máximo."
    ),
    "page_quiz_nothing_told": (
        "Casi. Es un indicio limitado: multiplica las probabilidades relativas sobre usted por "
        "{odds} como máximo."
    ),
    "page_begin": "Empezar",
    "page_begin_working": "Obteniendo su pase …",
    "page_begin_used": "Esta invitación ya se usó, en otro dispositivo o en otro navegador.",
    "page_begin_closed": "Esta encuesta está cerrada.",
    "page_begin_later": "El servidor no responde. Pulse otra vez Empezar.",
    "page_ask": "Las preguntas",
    "page_ask_note": "Toque lo que es verdad. Nada se envía antes de pulsar el último botón.",
    "page_choose": "Elija",
    "page_number_hint": "Un número de {low} a {high}",
    "page_missing": "Responda a esta pregunta.",
    "page_promise": "Qué prueba esta respuesta",
    "page_undo": "Un informe enviado no se puede retirar.",
    "page_send": "Añadir azar y enviar",
    "page_done": "Gracias",
    "page_sent_waiting": (
        "Se ha añadido azar y sus respuestas están olvidadas. El informe sale en un momento al "
        "azar durante el próximo minuto, para que la hora no diga nada. Puede cerrar esta "
        "página: entonces saldrá cuando la abra otra vez."
    ),
    "page_sent_sending": "Se ha añadido azar y sus respuestas están olvidadas. Enviando …",
    "page_sent_later": (
        "El servidor no responde. Sus respuestas están olvidadas. El informe espera en este "
        "dispositivo y saldrá cuando tenga conexión o abra esta página otra vez."
    ),
    "page_sent_busy": (
        "Llegaron demasiados informes de su red en la última hora. Sus respuestas están "
        "olvidadas. El informe espera en este dispositivo y saldrá más tarde."
    ),
    "page_sent_sent": "Su informe se envió. Sus respuestas están olvidadas.",
    "page_sent_refused": "La encuesta no aceptó el informe. Quizá esté cerrada.",
    "page_sent_before": (
        "Este dispositivo ya envió su informe. Un segundo diría más sobre usted; por eso solo "
        "hay uno."
    ),
    "page_bytes": "Lo que se envió, hasta el último carácter",
    "page_bytes_note": "Es un informe, no su respuesta: el azar pudo cambiarlo.",
    "page_mark": (
        "Al cierre se publican los resúmenes (hash) de todos los pases usados. El suyo es:"
    ),
    "page_check": "Compruébelo",
    "page_check_text": (
        "Esta página se hizo con un manifiesto que lleva el número de abajo. Debe ser el mismo "
        "que en el cartel o en la carta que le trajo aquí."
    ),
    "page_code": "Leer el código que añade el azar",
    "page_save": "Guardar esta página como archivo",
    "page_again": "Persona siguiente",
    "page_refused": "Esta página no se puede usar",
    "page_refused_insecure": "La conexión no está cifrada. Abra el enlace con https.",
    "page_refused_incomplete": (
        "El enlace no está completo. Ábralo otra vez desde su invitación, o péguelo aquí."
    ),
    "page_paste": "Enlace o código de su invitación",
    "page_take": "Usar",
    "page_refused_changed": (
        "Esta no es la encuesta a la que le invitaron: sus promesas han cambiado. No se envió "
        "nada. Dígaselo a quien le invitó."
    ),
    "page_no_script": (
        "Esta página necesita JavaScript, porque es su propio dispositivo el que debe añadir "
        "el azar. Sin él no se puede enviar nada. Pida el formulario en papel."
    ),
}
